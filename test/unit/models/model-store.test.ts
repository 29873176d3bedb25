import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ModelStore, ModelUnusable } from '#workers/models/model-store.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'models-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const entry = (file: string, text: string) => ({
  file,
  sha256: sha256(text),
  source: 'a shop',
  licence: 'ours',
});
const manifest = (...entries: readonly unknown[]) =>
  writeFile(join(folder, 'MANIFEST.json'), JSON.stringify(entries));
const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('the bundled models', () => {
  test('are all there and unaltered, each with its licence', async () => {
    await (await ModelStore.open()).verifyAll();
    const root = join(import.meta.dirname, '../../../workers/models');
    const listed = JSON.parse(await readFile(join(root, 'MANIFEST.json'), 'utf8')) as {
      licenceFile: string;
    }[];
    for (const { licenceFile } of listed)
      await expect(readFile(join(root, licenceFile))).resolves.toBeDefined();
  });
});

describe("an operator's models", () => {
  test('go before the bundled ones of the same name and add to them', async () => {
    await manifest(entry('silero_vad_v5.onnx', 'other'), entry('mine.onnx', 'new'));
    await writeFile(join(folder, 'silero_vad_v5.onnx'), 'other');
    await writeFile(join(folder, 'mine.onnx'), 'new');
    const models = await ModelStore.open(folder);
    expect(String(await models.read('silero_vad_v5.onnx'))).toBe('other');
    expect(String(await models.read('mine.onnx'))).toBe('new');
    expect((await models.read('canonical_face_mesh.json')).length).toBe(59_043);
  });

  test('that were altered are refused with what to do', async () => {
    await manifest(entry('mine.onnx', 'new'));
    await writeFile(join(folder, 'mine.onnx'), 'tampered');
    const error = await failureOf((await ModelStore.open(folder)).read('mine.onnx'));
    expect(error).toBeInstanceOf(ModelUnusable);
    expect(String(error)).toMatch(/mine\.onnx was altered.*put the file from a shop there/);
  });

  test('that are missing are named', async () => {
    await manifest(entry('mine.onnx', 'new'));
    expect(String(await failureOf((await ModelStore.open(folder)).verifyAll()))).toContain('cannot be read');
  });

  test('need a manifest that makes sense', async () => {
    expect(String(await failureOf(ModelStore.open(folder)))).toContain('lists each with file, sha256');
    await manifest({ file: '../outside', sha256: sha256('x'), source: 'a', licence: 'b' });
    expect(String(await failureOf(ModelStore.open(folder)))).toContain('without . or ..');
  });

  test('a name that nobody lists is told with those that are listed', async () => {
    const error = await failureOf((await ModelStore.open()).read('whisper.onnx'));
    expect(String(error)).toMatch(/No manifest lists the model whisper\.onnx.*silero_vad_v5\.onnx/);
  });
});
