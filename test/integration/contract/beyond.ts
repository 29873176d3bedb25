import { describe, expect, test } from 'vitest';
import type { Answer, Client } from './client.ts';
import { badUrls } from './clip-fields.ts';
import type { ContractSystem } from './contract-system.ts';
import { eachOf, expectCreated } from './create-clip.ts';
import { bodies, expectError, expectInvalid } from './expectations.ts';

/** What goes beyond the interface: cancelling, lists and webhooks. */
export function beyondContract(system: () => ContractSystem): void {
  const clip = async (client: Client, more: Record<string, unknown> = {}): Promise<string> => {
    const order = { video_url: system().sources.url('12s.mov'), ...more };
    return expectCreated(await client.post('/v1/clip', order), Number(more['num_clips'] ?? 1));
  };

  describe('cancelling', () => {
    test.concurrent('ends a job that has not begun, and gives all of it back', async () => {
      const client = await system().client({ cents: 1_000 });
      const jobId = await clip(client, { num_clips: 3 });
      const path = `/v1/clip/${jobId}`;
      const cancelled = await untilCancelled(() => client.delete(path));
      expect(bodies.clipCancelled.parse(cancelled.body)).toMatchObject({
        job_id: jobId,
        cancelled_clips: 3,
        refunded_cents: 450,
      });
      const { clips } = bodies.clipCompleted.parse((await client.get(path)).body);
      expect(clips.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
      expect((await client.get('/v1/wallet')).body).toMatchObject({
        balance_cents: 1_000,
        total_spent_cents: 0,
      });
      // Doing it again changes nothing.
      expect((await client.delete(path)).body).toEqual(cancelled.body);
    });

    test.concurrent('a job that has ended is a 409, an unknown one a 404', async () => {
      const client = await system().client();
      const jobId = await clip(client);
      await system().endClip(jobId, 0, { title: 'Done' });
      await system().untilJob(client, `/v1/clip/${jobId}`, ({ status }) => status === 'completed');
      expectError(await client.delete(`/v1/clip/${jobId}`), 409);
      expectError(await system().rich.delete(`/v1/clip/${jobId}`), 404, 'Job not found');
      expectError(await client.delete(`/v1/face-swap/${jobId}`), 404, 'Job not found');
      for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
        expectError(await client.delete(`/v1/clip/${id}`), 404, 'Job not found');
    });
  });

  describe('lists', () => {
    test.concurrent('jobs are listed newest first, page by page, for their team alone', async () => {
      const client = await system().client();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift(await clip(client));
      const seen: string[] = [];
      let path = '/v1/jobs?limit=2';
      for (;;) {
        const page = bodies.jobList.parse((await client.get(path)).body);
        seen.push(...page.jobs.map(({ job_id }) => job_id));
        if (page.next_cursor === null) break;
        path = `/v1/jobs?limit=2&cursor=${page.next_cursor}`;
      }
      expect(seen).toEqual(ids);
      const filtered = await client.get('/v1/jobs?kind=clip&status=processing');
      expect(bodies.jobList.parse(filtered.body).jobs).toHaveLength(5);
      for (const query of ['kind=face_swap', 'status=completed', 'status=failed'])
        expect((await client.get(`/v1/jobs?${query}`)).body).toEqual({ jobs: [], next_cursor: null });
    });

    test.concurrent('transactions add up to the balance', async () => {
      const client = await system().client({ cents: 1_000 });
      const jobId = await clip(client, { num_clips: 2 });
      await system().endClip(jobId, 0, { title: 'Done' });
      await system().endClip(jobId, 1, { error: 'Broken.' });
      await system().untilJob(client, `/v1/clip/${jobId}`, ({ status }) => status === 'completed');
      const { transactions } = bodies.transactionList.parse(
        (await client.get('/v1/wallet/transactions')).body,
      );
      const wallet = bodies.wallet.parse((await client.get('/v1/wallet')).body);
      expect(transactions.reduce((sum, { amount_cents }) => sum + amount_cents, 0)).toBe(
        wallet.balance_cents,
      );
      expect(transactions[0]?.balance_cents).toBe(wallet.balance_cents);
      expect(transactions.map(({ seq }) => seq)).toEqual(
        transactions.map((_, index) => transactions.length - index),
      );
      expect(transactions.filter(({ type }) => type === 'WalletDebited')).toHaveLength(1);
      expect(transactions.find(({ type }) => type === 'WalletRefunded')).toMatchObject({
        job_id: jobId,
        amount_cents: 150,
      });
    });

    const lists = ['/v1/jobs', '/v1/wallet/transactions', '/v1/webhooks/deliveries'];
    test.concurrent.each(lists)('%s checks its parameters', async (path) => {
      const { rich } = system();
      await eachOf(['limit=1', 'limit=100'], async (query) =>
        expect((await rich.get(`${path}?${query}`)).status).toBe(200),
      );
      await eachOf(['0', '101', '-1', 'x', '1.5', ''], async (limit) =>
        expectInvalid(await rich.get(`${path}?limit=${limit}`), 'limit', ['1', '100']),
      );
      await eachOf(['', 'x', 'WyJ4Il0'], async (cursor) =>
        expectInvalid(await rich.get(`${path}?cursor=${cursor}`), 'cursor', ['next_cursor']),
      );
      expectInvalid(await rich.get(`${path}?page=2`), 'page', ['limit']);
      expectInvalid(await rich.get(`${path}?limit=1&limit=2`), 'limit', []);
    });

    test.concurrent('kinds and statuses are words of a list', async () => {
      const { rich } = system();
      expectInvalid(await rich.get('/v1/jobs?kind=swap'), 'kind', ['clip', 'face_swap']);
      expectInvalid(await rich.get('/v1/jobs?status=done'), 'status', ['processing', 'completed', 'failed']);
      expectInvalid(await rich.get('/v1/webhooks/deliveries?status=done'), 'status', [
        'pending',
        'delivered',
        'failed',
      ]);
    });
  });

  describe('webhooks', () => {
    test.concurrent('a callback_url must be one that may be posted to', async () => {
      const source = { video_url: system().sources.url('12s.mov') };
      await eachOf(badUrls, async (callback_url) =>
        expectInvalid(await system().rich.post('/v1/clip', { ...source, callback_url }), 'callback_url', []),
      );
    });

    test('a job that has ended is told, the delivery is listed, and can be sent again', async () => {
      const client = await system().client();
      const jobId = await clip(client, { callback_url: system().receiver.url('/ended') });
      await system().endClip(jobId, 0, { title: 'Done' });
      const path = `/v1/webhooks/deliveries?job_id=${jobId}`;
      const isDelivered = ({ deliveries }: Answer['body']) =>
        (deliveries as { status: string }[])[0]?.status === 'delivered';
      const list = await system().untilJob(client, path, isDelivered);
      const [delivery] = bodies.deliveryList.parse(list.body).deliveries;
      expect(delivery).toMatchObject({
        job_id: jobId,
        url: system().receiver.url('/ended'),
        last_status_code: 204,
      });
      const replayed = await client.send(
        'POST',
        `/v1/webhooks/deliveries/${delivery?.delivery_id}/replay`,
        {},
      );
      expect([replayed.status, replayed.body['status']]).toEqual([202, 'pending']);
      await system().untilJob(client, path, isDelivered);
      expect(system().receiver.at('/ended').length).toBeGreaterThanOrEqual(2);
      for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
        expectError(await client.send('POST', `/v1/webhooks/deliveries/${id}/replay`, {}), 404);
    });
  });
}

/** A 202 says that it holds already, and that what came back can be asked for again. */
async function untilCancelled(cancel: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await cancel();
    if (answer.status === 200) return answer;
    expect([answer.status, answer.body['status']]).toEqual([202, 'cancelling']);
  }
}
