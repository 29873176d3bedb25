import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlatformDescription } from '#test/stack/platform.ts';

/** What the server answers at a path. */
export type Page = { readonly file: string } | { readonly body: string } | { readonly redirectTo: string };

/** A stranger's web server: files, made-up content and redirects, to be let in by `EGRESS_ALLOW`. */
export type HostileServer = {
  /** `host:port` as the service reaches it, and the value of `EGRESS_ALLOW`. */
  readonly host: string;
  /** Puts a page at a path of its own; gives its URL. */
  put(page: Page): string;
  close(): Promise<void>;
};

/** Starts the server where the service can reach it, containers included. It knows no ranges. */
export async function startHostileServer(
  platform: Pick<PlatformDescription, 'containers'>,
): Promise<HostileServer> {
  const pages = new Map<string, Page>();
  const server = createServer(async (request, response) => {
    const page = pages.get(request.url ?? '');
    if (page === undefined) response.writeHead(404).end();
    else if ('redirectTo' in page) response.writeHead(302, { location: page.redirectTo }).end();
    else if ('body' in page) response.end(page.body);
    else {
      response.setHeader('content-length', (await stat(page.file)).size);
      createReadStream(page.file).pipe(response);
    }
  });
  server.listen(0, platform.containers?.hostAddress ?? '127.0.0.1');
  await once(server, 'listening');
  const host = `${platform.containers?.hostName ?? '127.0.0.1'}:${(server.address() as AddressInfo).port}`;
  return {
    host,
    put: (page) => {
      const path = `/${pages.size}/video.mp4`;
      pages.set(path, page);
      return `http://${host}${path}`;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
