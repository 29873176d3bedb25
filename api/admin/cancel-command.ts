import { openAppender } from '#infra/kafka/appender.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { isUuid } from '#schemas/ids.ts';
import { type Cancellation, cancelJob } from '../cancel-job.ts';
import { logFreshness } from '../log-freshness.ts';
import { type AdminCommand, dollars, type Outcome, UsageError } from './command.ts';
import { type Operator, Refused } from './operator.ts';

/** Calling a client's job off, as the client could. */
const cancel: AdminCommand = {
  name: 'job cancel',
  summary: 'Cancel a job: what is not finished stops and is given back. Repeating it changes nothing.',
  usage: ['JOB_ID'],
  options: {},
  argument: 'JOB_ID',
  run: async (_options, operator, argument) => {
    const jobId = argument.toLowerCase();
    if (!isUuid(jobId)) throw new UsageError('JOB_ID must be a UUID, as the create returned it.');
    return outcomeOf(jobId, await cancelAs(operator, jobId));
  },
};

async function cancelAs({ pool, kafka, log, watch }: Operator, jobId: string): Promise<Cancellation> {
  const freshness = logFreshness({ endOffsets: (topic) => endOffsets(kafka, topic), partitionOf, watch });
  const appender = await openAppender(kafka, { log });
  try {
    return await cancelJob({ jobId }, { pool, appender, freshness, watch, now: () => new Date() });
  } finally {
    await appender.close();
  }
}

function outcomeOf(jobId: string, cancellation: Cancellation): Outcome {
  switch (cancellation.outcome) {
    case 'not-found':
      throw new Refused(`There is no job ${jobId}.`);
    case 'finished':
      throw new Refused(`Job ${jobId} is finished already; nothing was cancelled.`);
    case 'behind':
      throw new Refused('The projector is behind the log, so nothing was done. Is it running? Try again.');
    case 'unknown':
      throw new Refused(
        'Kafka did not answer, so it is not known whether this was done. Repeating it is safe.',
      );
    case 'cancelling':
      return {
        json: { job_id: jobId, status: 'cancelling' },
        lines: [`Job ${jobId} is cancelled; its refunds are not shown yet. Repeat this to see them.`],
      };
    case 'cancelled': {
      const { cancelledItems, refundedCents, job } = cancellation;
      return {
        json: {
          job_id: jobId,
          status: job.status,
          cancelled_items: cancelledItems,
          refunded_cents: refundedCents,
        },
        lines: [
          `Job ${jobId} is cancelled: ${cancelledItems} of ${job.items.length} items, ${dollars(refundedCents)} given back.`,
        ],
      };
    }
  }
}

export const cancelCommands: readonly AdminCommand[] = [cancel];
