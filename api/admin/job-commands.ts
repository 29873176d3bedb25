import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { uploadsPrefix } from '#infra/object-storage/upload-keys.ts';
import { isUuid } from '#schemas/ids.ts';
import { SWAP_ITEM } from '#schemas/job.ts';
import { queryRows } from '../database.ts';
import { type ClipReasons, describeReasons, readClipReasons } from './clip-reasons.ts';
import { type AdminCommand, dollars, table, UsageError } from './command.ts';
import { type Operator, Refused } from './operator.ts';

/** What is known of one job: its rows, its money, its objects, and why its clips look as they do. */

type JobColumns = Readonly<{
  job_id: string;
  team_id: number;
  kind: string;
  status: string;
  stage: string | null;
  item_count: number;
  cost_cents: number;
  debit_id: string;
  created_at: Date;
  deadline_at: Date;
  finished_at: Date | null;
}>;

type ClipColumns = Readonly<{
  clip_id: number;
  item: number;
  status: string;
  settlement: string | null;
  title: string | null;
  error: string | null;
  object_key: string | null;
  duration_ms: number | null;
  finished_at: Date | null;
}>;

type SwapColumns = Readonly<{
  mode: string;
  duration_seconds: number;
  status: string;
  settlement: string | null;
  error: string | null;
  object_key: string | null;
  finished_at: Date | null;
}>;

type TransactionColumns = Readonly<{
  seq: number;
  type: string;
  amount_cents: number;
  balance_after_cents: number;
  item: number | null;
  occurred_at: Date;
}>;

const showJob: AdminCommand = {
  name: 'job show',
  summary: 'Show a job: its rows, its money, its objects, and why its clips look as they do.',
  usage: ['JOB_ID'],
  options: {},
  argument: 'JOB_ID',
  run: async (_options, operator, argument) => {
    const jobId = argument.toLowerCase();
    if (!isUuid(jobId))
      throw new UsageError('JOB_ID must be a UUID, as POST /v1/clip and POST /v1/face-swap return it.');
    const job = await findJob(operator, jobId);
    if (job === undefined) throw new Refused(`There is no job ${jobId}.`);
    const clips = await findClips(operator, jobId);
    const swaps = await findSwaps(operator, jobId);
    const transactions = await findTransactions(operator, jobId);
    const { objects, reasons } = await lookIntoStorage(operator, jobId, clips);
    const items = [...clips.map(clipLine), ...swaps.map(swapLine)];
    return {
      json: { job, clips, swaps, transactions, objects, reasons },
      lines: [...describe(job, items, transactions, objects), ...reasons.flatMap(describeReasons)],
    };
  },
};

async function findJob({ pool }: Operator, jobId: string): Promise<JobColumns | undefined> {
  const [row] = await queryRows<JobColumns>(
    pool,
    `SELECT job_id, team_id, kind, status, stage, item_count, cost_cents, debit_id, created_at, deadline_at, finished_at
     FROM read_model.jobs WHERE job_id = $1`,
    [jobId],
  );
  return row;
}

const findClips = ({ pool }: Operator, jobId: string) =>
  queryRows<ClipColumns>(
    pool,
    `SELECT clip_id, item, status, settlement, title, error, object_key, duration_ms, finished_at
     FROM read_model.clips WHERE job_id = $1 ORDER BY item`,
    [jobId],
  );

/** The swap of a face swap job; none of other jobs. */
const findSwaps = ({ pool }: Operator, jobId: string) =>
  queryRows<SwapColumns>(
    pool,
    `SELECT mode, duration_seconds, status, settlement, error, object_key, finished_at
     FROM read_model.swaps WHERE job_id = $1`,
    [jobId],
  );

const findTransactions = ({ pool }: Operator, jobId: string) =>
  queryRows<TransactionColumns>(
    pool,
    `SELECT seq, type, amount_cents, balance_after_cents, item, occurred_at
     FROM read_model.wallet_transactions WHERE job_id = $1 ORDER BY seq`,
    [jobId],
  );

type ObjectRow = Readonly<{ key: string; bytes: number }>;

type InStorage = Readonly<{ objects: readonly ObjectRow[]; reasons: readonly ClipReasons[] }>;

/**
 * The job's objects and why its finished clips look as they do, or none with a word on stderr while the storage
 * cannot be asked: the rows matter more.
 */
async function lookIntoStorage(
  { config }: Operator,
  jobId: string,
  clips: readonly ClipColumns[],
): Promise<InStorage> {
  // The S3 client is large, and no other command needs it.
  const { ObjectStorage } = await import('#infra/object-storage/object-storage.ts');
  const storage = ObjectStorage.connect(storageSettings(config));
  try {
    const objects: ObjectRow[] = [];
    for (const prefix of [uploadsPrefix(jobId), `jobs/${jobId}/`, `results/${jobId}/`])
      for await (const { key, bytes } of storage.list(prefix)) objects.push({ key, bytes });
    const reasons: ClipReasons[] = [];
    for (const { clip_id: clipId } of clips) {
      const found = await readClipReasons(storage, jobId, clipId);
      if (found !== undefined) reasons.push(found);
    }
    return { objects, reasons };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'StorageFailure')) throw error;
    process.stderr.write(`The objects could not be listed: ${error.message}\n`);
    return { objects: [], reasons: [] };
  } finally {
    storage.close();
  }
}

function describe(
  job: JobColumns,
  items: readonly (readonly string[])[],
  transactions: readonly TransactionColumns[],
  objects: readonly ObjectRow[],
): readonly string[] {
  const stage = job.stage === null ? '' : ` (${job.stage})`;
  return [
    `Job ${job.job_id} of team ${job.team_id}: ${job.kind}, ${job.status}${stage}, ${dollars(job.cost_cents)}`,
    `created ${job.created_at.toISOString()}, deadline ${job.deadline_at.toISOString()}`,
    '',
    ...table(['ITEM', 'WHAT', 'STATUS', 'MONEY', 'TITLE OR ERROR'], items),
    '',
    ...table(
      ['SEQ', 'EVENT', 'AMOUNT', 'BALANCE', 'WHEN'],
      transactions.map((row) => [
        String(row.seq),
        row.type,
        dollars(row.amount_cents),
        dollars(row.balance_after_cents),
        row.occurred_at.toISOString(),
      ]),
    ),
    '',
    ...table(
      ['BYTES', 'OBJECT'],
      objects.map(({ key, bytes }) => [String(bytes), key]),
    ),
    '',
  ];
}

const clipLine = (clip: ClipColumns): readonly string[] => [
  String(clip.item),
  `clip ${clip.clip_id}`,
  clip.status,
  clip.settlement ?? 'open',
  clip.title ?? clip.error ?? '',
];

const swapLine = (swap: SwapColumns): readonly string[] => [
  String(SWAP_ITEM),
  `${swap.mode} swap of ${swap.duration_seconds} s`,
  swap.status,
  swap.settlement ?? 'open',
  swap.error ?? '',
];

export const jobCommands: readonly AdminCommand[] = [showJob];
