import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SourceFileServer, serveSourceFile } from './source-file-server.ts';

const sample = fileURLToPath(new URL('../sample/talk.mp4', import.meta.url));

/** The video to clip: a URL as it is, or a file that is served for as long as the demo runs. */
export type DemoSource = {
  readonly url: string;
  /** What the workers must be allowed to fetch beyond public addresses. */
  readonly egressAllow: readonly string[];
  readonly description: string;
  close(): Promise<void>;
};

/** Opens a file or URL given by the user, or the sample. Throws when there is no such file. */
export async function openDemoSource(given: string | undefined): Promise<DemoSource> {
  if (given !== undefined && /^https?:\/\//i.test(given)) {
    return { url: given, egressAllow: [], description: given, close: async () => {} };
  }
  const file = resolve(given ?? sample);
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw new Error(`there is no file ${file}. Give a video file, or an http(s) URL.`);
  if (!found.isFile()) throw new Error(`${file} is not a file. Give a video file, or an http(s) URL.`);
  const server: SourceFileServer = await serveSourceFile(file);
  return {
    url: server.url,
    egressAllow: [server.hostAndPort],
    description: given === undefined ? 'the sample video infra/sample/talk.mp4' : file,
    close: () => server.close(),
  };
}
