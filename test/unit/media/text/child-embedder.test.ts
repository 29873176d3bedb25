import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { childEmbedder } from '#workers/media/text/child-embedder.ts';
import { SentenceEmbedder } from '#workers/media/text/sentence-embedder.ts';
import { ModelStore } from '#workers/models/model-store.ts';

const taskFolder = await mkdtemp(join(tmpdir(), 'embedder-'));
afterAll(() => rm(taskFolder, { recursive: true, force: true }));

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const leftOver = async () => (await readdir(taskFolder)).filter((name) => name.endsWith('.json'));
const sentences = ['A cat sits on the mat.', '“Quoted”, with an emoji \u{1F600}', ''];

test('a child process gives the very vectors of this one, and leaves no file', async () => {
  const { embed } = childEmbedder({ tools, taskFolder, signal: new AbortController().signal });
  const here = await SentenceEmbedder.open(await ModelStore.open());
  expect(await embed(sentences)).toEqual(await here.embed(sentences));
  expect(await embed([])).toEqual([]);
  expect(await leftOver()).toEqual([]);
});

test('a child process ends with the task that it works for', async () => {
  const aborted = new AbortController();
  aborted.abort(new Error('cancelled'));
  const { embed } = childEmbedder({ tools, taskFolder, signal: aborted.signal });
  await expect(embed(sentences)).rejects.toThrow();
  expect(await leftOver()).toEqual([]);
});
