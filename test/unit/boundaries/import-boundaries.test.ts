import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const biome = join(repository, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');

/** Imports that must be refused, each in a file of its own; `true` marks those that must pass. */
const planted: readonly (readonly [file: string, specifier: string, allowed: boolean])[] = [
  ['schemas/a.ts', '#infra/config.ts', false],
  ['schemas/b.ts', '../infra/config.ts', false],
  ['schemas/deep/c.ts', '../../api/main.ts', false],
  ['schemas/d.ts', './wallet.ts', true],
  ['infra/a.ts', '#api/main.ts', false],
  ['infra/deep/b.ts', '../../projector/main.ts', false],
  ['infra/c.ts', '#workers/main.ts', false],
  ['infra/d.ts', '#schemas/wallet.ts', true],
  ['infra/e.ts', '#test/stack/platform.ts', false],
  ['infra/kafka/a.ts', '#workers/main.ts', false],
  ['infra/kafka/b.ts', '../../workers/main.ts', false],
  ['infra/kafka/c.ts', 'kafkajs', true],
  ['infra/kafka/d.ts', 'fluent-ffmpeg', false],
  ['infra/media/ffmpeg-command.ts', 'fluent-ffmpeg', true],
  ['infra/media/a.ts', 'fluent-ffmpeg', false],
  ['infra/media/b.ts', 'kafkajs', false],
  ['api/a.ts', '#projector/main.ts', false],
  ['api/deep/b.ts', '../../workers/main.ts', false],
  ['api/c.ts', '#infra/config.ts', true],
  ['api/d.ts', 'kafkajs', false],
  ['api/e.ts', 'undici', false],
  ['api/f.ts', 'node:child_process', false],
  ['projector/a.ts', '#api/main.ts', false],
  ['projector/deep/b.ts', '../../workers/main.ts', false],
  ['projector/c.ts', 'kafkajs', false],
  ['workers/a.ts', '#api/main.ts', false],
  ['workers/deep/b.ts', '../../projector/main.ts', false],
  ['workers/c.ts', 'fluent-ffmpeg', false],
  ['workers/d.ts', '../test/stack/platform.ts', false],
  ['workers/f.ts', 'undici', false],
  ['workers/g.ts', 'node:child_process', false],
  ['infra/egress/a.ts', 'undici', true],
  ['workers/e.ts', '#schemas/wallet.ts', true],
  ['test/a.ts', 'kafkajs', false],
  ['test/b.ts', '#api/main.ts', true],
];

describe('the import boundaries of biome.json', () => {
  let folder: string;
  let refused: ReadonlySet<string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clipledger-boundaries-'));
    await cp(join(repository, 'biome.json'), join(folder, 'biome.json'));
    // The configuration reads the ignore file of its repository.
    await cp(join(repository, '.gitignore'), join(folder, '.gitignore'));
    for (const [file, specifier] of planted) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `import * as planted from '${specifier}';\nexport { planted };\n`);
    }
    refused = await refusedFiles(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(planted)('%s importing %s: allowed is %s', (file, _specifier, allowed) => {
    expect(refused.has(file)).toBe(!allowed);
  });
});

/** The files in which Biome reports a restricted import. */
function refusedFiles(folder: string): Promise<ReadonlySet<string>> {
  const args = [biome, 'lint', '--only=style/noRestrictedImports', '--max-diagnostics=none'];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...args, '--reporter=json', '.'],
      { cwd: folder, timeout: 20_000, maxBuffer: 16 << 20 },
      (error, stdout) => {
        if (stdout === '') return reject(error ?? new Error('Biome said nothing.'));
        const { diagnostics } = JSON.parse(stdout) as {
          diagnostics: { category: string; location: { path: string | { file: string } } }[];
        };
        const restricted = diagnostics.filter(
          ({ category }) => category === 'lint/style/noRestrictedImports',
        );
        const pathOf = (path: string | { file: string }) => (typeof path === 'string' ? path : path.file);
        resolve(new Set(restricted.map(({ location }) => pathOf(location.path))));
      },
    );
  });
}
