import { openSurroundings, startTestWorker } from './running-worker.ts';
import { scriptedPipeline } from './scripted-pipeline.ts';
import { scriptedSwaps } from './scripted-swaps.ts';

/** A worker process with scripted pipelines, to be killed by tests. Its settings come by the environment. */

const around = await openSurroundings(process.env);
const { pipeline } = scriptedPipeline({ renderMs: 400 });
const swaps = scriptedSwaps({
  segments: 8,
  segmentMs: 500,
  stitchMs: 3_000,
  callsFile: process.env['SWAP_CALLS_FILE'],
});
const worker = await startTestWorker(around, pipeline, { swaps });
// The test is gone: nobody else would end this process.
process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  await worker.stop();
  await around.close();
  process.exit();
});
