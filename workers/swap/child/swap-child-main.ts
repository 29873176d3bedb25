import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SwapProgramSetting, swapOrderFile } from '#infra/media/run-swap-program.ts';
import { reportWork } from '../../media/analysis/report-work.ts';
import { ModelStore } from '../../models/model-store.ts';
import type { SwapOrder } from './run-swap-child.ts';
import { doWork } from './swap-work.ts';

/** The child process that does the work of one call in the task's folder; what to do lies there in a file. */
const [settingText = '{}'] = process.argv.slice(2);
const { tools, modelsFolder } = JSON.parse(settingText) as SwapProgramSetting;
const order = JSON.parse(await readFile(join(process.cwd(), swapOrderFile), 'utf8')) as SwapOrder;
await reportWork(process.stdout, async (onDone) =>
  doWork(order, {
    tools,
    taskFolder: process.cwd(),
    // The parent stops this process, and the kernel then ends what it runs.
    signal: new AbortController().signal,
    models: await ModelStore.open(modelsFolder),
    onDone,
  }),
);
