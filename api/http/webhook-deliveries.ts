import { z } from 'zod';
import { isUuid } from '#schemas/ids.ts';
import { listDeliveries, replayDelivery, type TeamDelivery } from '../webhooks/team-deliveries.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { cursorAfter, cursorParameter } from './cursor.ts';
import { checkFields, oneOf } from './field-rules.ts';
import type { HttpService } from './http-service.ts';
import { limitParameter, pageOf, queryOf } from './list-query.ts';

/** The query parameters of `GET /v1/webhooks/deliveries`. */
export const deliveryListQuery = queryOf({
  job_id: z
    .string()
    .toLowerCase()
    .refine(isUuid, { error: 'must be the job_id of a job, a UUID' })
    .optional(),
  status: oneOf(['pending', 'delivered', 'failed']).optional(),
  cursor: cursorParameter('deliveries', [z.int().min(0).max(Date.UTC(9999, 0)), z.uuid()]).optional(),
  limit: limitParameter,
});

export const deliveryBody = z.object({
  /** Also the message's webhook-id. */
  delivery_id: z.uuid(),
  job_id: z.uuid(),
  url: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  last_attempt_at: z.iso.datetime().nullable(),
  last_status_code: z.int().nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: z.iso.datetime().nullable(),
  delivered_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
});

export const deliveryListBody = z.object({
  deliveries: z.array(deliveryBody),
  next_cursor: z.string().nullable(),
});

/** `GET /v1/webhooks/deliveries`: what was or will be sent to the team's callbacks, newest first. */
export async function getDeliveries(
  query: unknown,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const checked = checkFields(deliveryListQuery, query);
  if ('errors' in checked) return answers.invalid(checked.errors);
  const { job_id: jobId, status, cursor, limit } = checked.value;
  const after = cursor === undefined ? undefined : { createdAtMs: cursor[0], deliveryId: cursor[1] };
  const found = await listDeliveries(service.pool, {
    teamId: principal.teamId,
    jobId,
    status,
    after,
    most: limit + 1,
  });
  const { rows, last } = pageOf(found, limit);
  const body: z.output<typeof deliveryListBody> = {
    deliveries: rows.map(deliveryRecord),
    next_cursor:
      last === undefined ? null : cursorAfter('deliveries', [last.createdAt.getTime(), last.deliveryId]),
  };
  return answers.ok(body);
}

/** `POST /v1/webhooks/deliveries/{delivery_id}/replay`: sends it again now, whatever became of it before. */
export async function replay(
  deliveryIdText: string,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  if (service.config.WEBHOOK_MASTER_KEY === undefined) return answers.webhooksNotSetUp;
  const deliveryId = deliveryIdText.toLowerCase();
  if (!isUuid(deliveryId)) return answers.deliveryNotFound;
  const row = await replayDelivery(service.pool, { deliveryId, teamId: principal.teamId });
  return row === undefined ? answers.deliveryNotFound : answers.accepted(deliveryRecord(row));
}

const deliveryRecord = (row: TeamDelivery): z.output<typeof deliveryBody> => ({
  delivery_id: row.deliveryId,
  job_id: row.jobId,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
  last_status_code: row.lastStatusCode,
  last_error: row.lastError,
  next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  delivered_at: row.deliveredAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
});
