import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools, type MediaTools } from '#infra/media/media-tools.ts';
import { runSwapProgram } from '#infra/media/run-swap-program.ts';

/** Programs that say and do what the real one never should. */

let folder: string;
let tools: MediaTools;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swap-program-'));
  tools = await locateMediaTools({}, process.env['PATH'] ?? '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(text: string, { wallMs = 60_000, onDone = (_done: number): void => undefined } = {}) {
  const program = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(program, text);
  return runSwapProgram({
    ...{ program, order: { kind: 'examine' }, tools, modelsFolder: undefined, folder, onDone },
    signal: new AbortController().signal,
    limits: { wallMs, memoryBytes: 1024 ** 3, reportBytes: 1_000 },
  });
}

const say = (report: unknown) => `console.log(${JSON.stringify(JSON.stringify(report))});`;
const broken = { code: 'TOOL_BROKEN', message: 'Swapping the face failed.' };

describe('a program that swaps faces', () => {
  test('reads its order, tells how far it is and gives its result', async () => {
    const seen: number[] = [];
    const text = `import { readFileSync } from 'node:fs';
      console.log('{"done":0.5}');
      console.log(JSON.stringify({ result: JSON.parse(readFileSync('swap-order.json', 'utf8')) }));`;
    expect(await run(text, { onDone: (done) => seen.push(done) })).toEqual({ kind: 'examine' });
    expect(seen).toEqual([0.5]);
  });

  test('fails with the failure that it reports', async () => {
    const failure = { code: 'FACE_NOT_USABLE', message: 'Too dark.', detail: '' };
    await expect(run(say({ failure }))).rejects.toMatchObject({
      code: 'FACE_NOT_USABLE',
      message: 'Too dark.',
    });
  });

  test.each([
    ['says nothing', ''],
    ['says what is no report', 'console.log("hello");'],
    ['says what is no JSON object', 'console.log("7");'],
    ['never stops talking', 'setInterval(() => process.stdout.write("x".repeat(600)), 1);'],
    ['breaks', `${say({ result: 1 })} process.exitCode = 3;`],
  ])('is broken when it %s', async (_what, text) => {
    await expect(run(text)).rejects.toMatchObject(broken);
  });

  test('is stopped at its time limit', async () => {
    await expect(run('setInterval(() => undefined, 1000);', { wallMs: 300 })).rejects.toMatchObject({
      code: 'TIME_LIMIT',
    });
  });
});
