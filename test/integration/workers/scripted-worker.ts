import { openSurroundings, startTestWorker } from './running-worker.ts';
import { scriptedPipeline } from './scripted-pipeline.ts';

/** A worker process with a scripted pipeline, to be killed by tests. Its settings come by the environment. */

const around = await openSurroundings(process.env);
const { pipeline } = scriptedPipeline({ renderMs: 400 });
const worker = await startTestWorker(around, pipeline);
// The test is gone: nobody else would end this process.
process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  await worker.stop();
  await around.close();
  process.exit();
});
