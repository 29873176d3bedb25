import { ModelStore } from '../../models/model-store.ts';
import { measurePicture, type PictureOrder } from './measure-picture.ts';
import { reportWork } from './report-work.ts';
import type { ChildSetting } from './run-measuring-child.ts';

/** The child process that runs `measurePicture` in the task's folder; its arguments are made by its parent. */
const [orderText = '{}', settingText = '{}'] = process.argv.slice(2);
const order = JSON.parse(orderText) as PictureOrder;
const { tools, modelsFolder } = JSON.parse(settingText) as ChildSetting;
await reportWork(process.stdout, async (onDone) =>
  measurePicture(order, {
    tools,
    taskFolder: process.cwd(),
    // The parent stops this process, and the kernel then ends what it runs.
    signal: new AbortController().signal,
    models: await ModelStore.open(modelsFolder),
    onFrames: onDone,
  }),
);
