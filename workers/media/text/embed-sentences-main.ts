import { ModelStore } from '../../models/model-store.ts';
import { reportWork } from '../analysis/report-work.ts';
import type { ChildSetting } from '../analysis/run-measuring-child.ts';
import { packVectors, readSentences, type SentenceOrder } from './child-embedder.ts';
import { SentenceEmbedder } from './sentence-embedder.ts';

/** The child process that embeds the sentences in a file; its arguments are made by its parent. */
const [orderText = '{}', settingText = '{}'] = process.argv.slice(2);
const order = JSON.parse(orderText) as SentenceOrder;
const { modelsFolder } = JSON.parse(settingText) as ChildSetting;
await reportWork(process.stdout, async () => {
  const embedder = await SentenceEmbedder.open(await ModelStore.open(modelsFolder));
  return packVectors(await embedder.embed(await readSentences(order)));
});
