import { openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { type AnyRecord, decodeRecord, encodeRecord, type Named, UnreadableRecord } from '#schemas/codec.ts';
import type { DeadTask, JobRecords } from '#schemas/records.ts';
import { type AdminCommand, requiredText, table } from './command.ts';
import { type Operator, Refused } from './operator.ts';

/** Tasks that the workers gave up: looked at, and driven again. */

type Task = Named<Pick<JobRecords, 'RenderClipTask' | 'SwapTask'>>;

const listDead: AdminCommand = {
  name: 'dead list',
  summary: 'List the tasks that were given up, the newest first, and which can be redriven.',
  usage: [],
  options: {},
  run: async (_options, operator) => {
    const tasks = (await deadTasks(operator.kafka)).sort((a, b) => b.failed_at - a.failed_at);
    const shown = tasks.map((dead) => ({
      task_id: dead.task_id,
      job_id: dead.job_id,
      team_id: dead.team_id,
      failed_at: new Date(dead.failed_at).toISOString(),
      attempts: dead.attempts,
      code: dead.code,
      reason: dead.reason,
      can_be_redriven: redrivable(dead) !== undefined,
    }));
    const lines = table(
      ['TASK', 'TEAM', 'FAILED', 'TRIES', 'REDRIVE', 'CODE', 'REASON'],
      shown.map((dead) => [
        dead.task_id,
        String(dead.team_id),
        dead.failed_at,
        String(dead.attempts),
        dead.can_be_redriven ? 'yes' : 'no',
        dead.code,
        dead.reason,
      ]),
    );
    return { json: { tasks: shown }, lines };
  },
};

const redriveDead: AdminCommand = {
  name: 'dead redrive',
  summary:
    'Make a clip or a face swap that was given up once more. It stays failed and refunded for the client.',
  usage: ['--task ID   as `dead list` shows it'],
  options: { task: { type: 'string' } },
  run: async (options, operator) => {
    const taskId = requiredText(options, 'task');
    const task = await deadTask(operator.kafka, taskId);
    const attempt = task.value.attempt + 1;
    const objectKey = resultKey(task);
    await append(operator, task, { attempt, deadline_at: Date.now() + operator.config.JOB_DEADLINE });
    return {
      json: { task_id: taskId, attempt, object_key: objectKey },
      lines: [`Task ${taskId} is driven again; the result will be ${objectKey} in the bucket.`],
    };
  },
};

/** The newest record of each dead task. */
async function deadTasks(kafka: KafkaConnection): Promise<DeadTask[]> {
  const newest = new Map<string, DeadTask>();
  for await (const { records } of readLog(kafka, { topics: ['job.dead'] })) {
    for (const { value: bytes } of records) {
      const { name, value } = decodeRecord(bytes);
      if (name === 'DeadTask') newest.set(value.task_id, value);
    }
  }
  return [...newest.values()];
}

async function deadTask(kafka: KafkaConnection, taskId: string): Promise<Task> {
  const dead = (await deadTasks(kafka)).find(({ task_id: id }) => id === taskId);
  if (dead === undefined)
    throw new Refused(`There is no dead task ${taskId}; \`dead list\` shows those there are.`);
  const task = redrivable(dead);
  if (task !== undefined) return task;
  throw new Refused(
    `${taskId} is no clip or face swap that could be made again: its job is refunded, and the client can send it anew.`,
  );
}

/** What to make again; undefined for whole jobs, whose clients can send them anew, and the unreadable. */
function redrivable(dead: DeadTask): Task | undefined {
  const record = readable(dead.task);
  return record?.name === 'RenderClipTask' || record?.name === 'SwapTask' ? record : undefined;
}

const resultKey = ({ name, value }: Task): string =>
  `results/${value.job_id}/${name === 'RenderClipTask' ? value.clip_id : 'face-swap'}.mp4`;

function readable(bytes: Buffer): AnyRecord | undefined {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}

async function append(
  { kafka, log }: Operator,
  task: Task,
  changed: { readonly attempt: number; readonly deadline_at: number },
): Promise<void> {
  const appender = await openAppender(kafka, { log });
  try {
    const value =
      task.name === 'RenderClipTask'
        ? encodeRecord('RenderClipTask', { ...task.value, ...changed })
        : encodeRecord('SwapTask', { ...task.value, ...changed });
    await appender.append([{ topic: 'job.tasks', key: task.value.task_id, value }]);
  } finally {
    await appender.close();
  }
}

export const deadCommands: readonly AdminCommand[] = [listDead, redriveDead];
