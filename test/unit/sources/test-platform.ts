import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locateYtDlp, type YtDlp } from '#infra/sources/yt-dlp.ts';

const plugins = fileURLToPath(new URL('platform', import.meta.url));

/** The real yt-dlp of the set-up, as the service runs it. */
export function realYtDlp(): Promise<YtDlp> {
  return locateYtDlp({ YT_DLP_VENV: process.env['YT_DLP_VENV'] });
}

/**
 * The real yt-dlp with one more extractor, the test's platform. The service shuts out plugins by `-I` and an
 * environment variable, so this Python takes both away before it starts the real one.
 */
export async function ytDlpWithTestPlatform(): Promise<YtDlp> {
  const { pythonPath } = await realYtDlp();
  const folder = join(await mkdtemp(join(tmpdir(), 'yt-dlp-')), 'bin');
  await mkdir(folder, { recursive: true });
  const wrapper = join(folder, 'python');
  await writeFile(
    wrapper,
    `#!/bin/sh\nunset YTDLP_NO_PLUGINS\nexport PYTHONPATH='${plugins}' PYTHONDONTWRITEBYTECODE=1\nshift\nexec '${pythonPath}' "$@"\n`,
  );
  await chmod(wrapper, 0o755);
  return { pythonPath: wrapper };
}
