import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findWallet } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { deleteJob } from './cancel-job.ts';
import { clientGone } from './client-gone.ts';
import { createClip, createClipFromForm } from './create-clip.ts';
import { createFaceSwap, createFaceSwapFromForm } from './create-face-swap.ts';
import { getClipJob } from './get-clip-job.ts';
import { getFaceSwapJob } from './get-face-swap-job.ts';
import type { HttpService } from './http-service.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { getJobs } from './list-jobs.ts';
import { getTransactions } from './list-transactions.ts';
import { isForm } from './uploads/is-form.ts';
import { getDeliveries, replay } from './webhook-deliveries.ts';

/** Sends `answer`; headers that an earlier check has set stay. */
export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply
    .code(answer.status)
    .headers({ ...answer.headers })
    .send(answer.body);
}

type JobPath = { Params: { jobId: string } };
type KeyPath = { Params: { keyId: string } };
type DeliveryPath = { Params: { deliveryId: string } };

/** The routes below `/v1`; `principalOf` tells who passed the authentication. */
export function addRoutes(
  v1: FastifyInstance,
  service: HttpService,
  principalOf: (request: FastifyRequest) => Principal,
): void {
  v1.get('/test', (request, reply) => sendAnswer(reply, testAnswer(principalOf(request), service)));
  v1.get('/wallet', async (request, reply) =>
    sendAnswer(reply, await walletAnswer(principalOf(request), service)),
  );
  v1.get('/wallet/transactions', async (request, reply) =>
    sendAnswer(reply, await getTransactions(request.query, principalOf(request), service)),
  );
  v1.get('/jobs', async (request, reply) =>
    sendAnswer(reply, await getJobs(request.query, principalOf(request), service)),
  );
  v1.post('/clip', async (request, reply) => {
    const principal = principalOf(request);
    const { body, headers } = request;
    const repetition = { idempotencyKey: headers['idempotency-key'], traceparent: traceparentOf(request) };
    const answer = isForm(request)
      ? await createClipFromForm({ request, ...repetition }, principal, service)
      : await createClip({ body, ...repetition }, principal, service);
    return sendAnswer(reply, answer);
  });
  v1.get<JobPath>('/clip/:jobId', async (request, reply) =>
    sendAnswer(reply, await getClipJob(request.params.jobId, principalOf(request), service)),
  );
  v1.delete<JobPath>('/clip/:jobId', async (request, reply) =>
    sendAnswer(reply, await deleteJob('clip', request.params.jobId, principalOf(request), service)),
  );
  v1.post('/face-swap', async (request, reply) => {
    const create = isForm(request) ? createFaceSwapFromForm : createFaceSwap;
    const traceparent = traceparentOf(request);
    return sendAnswer(reply, await create({ request, reply, traceparent }, principalOf(request), service));
  });
  v1.get<JobPath>('/face-swap/:jobId', async (request, reply) =>
    sendAnswer(reply, await getFaceSwapJob(request.params.jobId, principalOf(request), service)),
  );
  v1.delete<JobPath>('/face-swap/:jobId', async (request, reply) =>
    sendAnswer(reply, await deleteJob('face_swap', request.params.jobId, principalOf(request), service)),
  );
  v1.post('/keys', async (request, reply) =>
    sendAnswer(
      reply,
      await createKey(request.body, { principal: principalOf(request), gone: clientGone(reply) }, service),
    ),
  );
  v1.get('/keys', async (request, reply) => sendAnswer(reply, await listKeys(principalOf(request), service)));
  v1.delete<KeyPath>('/keys/:keyId', async (request, reply) =>
    sendAnswer(reply, await revokeKey(request.params.keyId, principalOf(request), service)),
  );
  v1.get('/webhooks/deliveries', async (request, reply) =>
    sendAnswer(reply, await getDeliveries(request.query, principalOf(request), service)),
  );
  v1.post<DeliveryPath>('/webhooks/deliveries/:deliveryId/replay', async (request, reply) =>
    sendAnswer(reply, await replay(request.params.deliveryId, principalOf(request), service)),
  );
}

export const testBody = z.object({
  status: z.literal('working'),
  team_id: z.int(),
  key_name: z.string(),
  timestamp: z.iso.datetime(),
});

function testAnswer(principal: Principal, { now }: HttpService): Answer {
  const body: z.output<typeof testBody> = {
    status: 'working',
    team_id: principal.teamId,
    key_name: principal.keyName,
    timestamp: now().toISOString(),
  };
  return answers.ok(body);
}

export const walletBody = z.object({
  balance_cents: z.int(),
  total_spent_cents: z.int(),
  total_topped_up_cents: z.int(),
  active: z.boolean(),
});

/** Spent is net of refunds, so that the balance is always what was topped up less what was spent. */
async function walletAnswer(principal: Principal, { pool, freshness }: HttpService): Promise<Answer> {
  // A charge is answered a second after it at the latest, projected or not; its balance is told only then.
  if ((await freshness.check('wallet.events', String(principal.teamId))) === 'behind')
    return answers.catchingUp;
  const wallet = await findWallet(pool, principal.teamId);
  if (wallet === undefined) return answers.catchingUp;
  const body: z.output<typeof walletBody> = {
    balance_cents: wallet.balanceCents,
    total_spent_cents: wallet.debitedCents - wallet.refundedCents,
    total_topped_up_cents: wallet.toppedUpCents,
    active: wallet.active,
  };
  return answers.ok(body);
}

const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** W3C Trace Context; anything else than one whole header is left out. */
function traceparentOf(request: FastifyRequest): string | undefined {
  const header = request.headers['traceparent'];
  return typeof header === 'string' && traceparentPattern.test(header) ? header : undefined;
}
