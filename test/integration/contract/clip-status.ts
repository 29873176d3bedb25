import { beforeAll, describe, expect, test } from 'vitest';
import type { ContractSystem, TeamClient } from './contract-system.ts';
import { expectCreated } from './create-clip.ts';
import { bodies, expectError } from './expectations.ts';

/** Sections 2.3, 2.4, 3.2 and 4.3 of the interface: `GET /v1/clip/{jobId}` from the order to the clips. */
export function clipStatusContract(system: () => ContractSystem): void {
  describe('a job of three clips', { concurrent: false }, () => {
    let client: TeamClient;
    let jobId: string;
    let path: string;
    beforeAll(async () => {
      client = await system().client({ cents: 1_000 });
      const order = { video_url: system().sources.url('12s.mov'), num_clips: 3 };
      jobId = expectCreated(await client.post('/v1/clip', order), 3);
      path = `/v1/clip/${jobId}`;
    });

    test('is processing at first, at any instance, and says when to ask again', async () => {
      const answer = await system().elsewhere(client).get(`/v1/clip/${jobId}`);
      const body = bodies.clipProcessing.parse(answer.body);
      expect(body).toMatchObject({ job_id: jobId, progress: { completed: 0, total: 3 } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(10);
    });

    test('counts the clips that have ended', async () => {
      await system().endClip(jobId, 1, { title: 'The second' });
      await system().untilJob(client, path, ({ progress }) => {
        bodies.clipProcessing.parse({ job_id: jobId, status: 'processing', progress });
        return (progress as { completed: number }).completed === 1;
      });
    });

    test('is completed with every clip, and what failed is given back', async () => {
      await system().endClip(jobId, 0, { error: 'There is no speech in it.' });
      await system().endClip(jobId, 2, { title: 'The third' });
      const completed = await system().untilJob(client, path, ({ status }) => status === 'completed');
      expect(completed.headers.get('retry-after')).toBeNull();
      const { clips } = bodies.clipCompleted.parse(completed.body);
      expect(clips).toMatchObject([
        { status: 'failed', error: 'There is no speech in it.' },
        // auto_heading is on by default.
        { status: 'completed', title: 'The second', heading: 'The second' },
        { status: 'completed', title: 'The third' },
      ]);
      expect(new Set(clips.map(({ clip_id }) => clip_id)).size).toBe(3);
      expect((await client.get('/v1/wallet')).body).toMatchObject({
        balance_cents: 700,
        total_spent_cents: 300,
      });
    });

    test('has URLs that work for 7 days, from a browser too', async () => {
      const { clips } = bodies.clipCompleted.parse((await client.get(`/v1/clip/${jobId}`)).body);
      const [clip] = clips.filter(({ status }) => status === 'completed');
      if (clip?.status !== 'completed') throw new Error('There is no completed clip.');
      expect(new URL(clip.download_url).searchParams.get('X-Amz-Expires')).toBe(String(7 * 86_400));
      const whole = await fetch(clip.download_url);
      expect(whole.status).toBe(200);
      expect(whole.headers.get('content-type')).toBe('video/mp4');
      expect(whole.headers.get('content-disposition')).toMatch(/^attachment;.*The second\.mp4/);
      const { byteLength } = await whole.arrayBuffer();
      const part = await fetch(clip.download_url, { headers: { range: 'bytes=0-99' } });
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes 0-99/${byteLength}`);
      await part.arrayBuffer();
    });

    test("is not found by other teams, nor under the other kind's path", async () => {
      expectError(await system().rich.get(`/v1/clip/${jobId}`), 404, 'Job not found');
      expectError(await client.get(`/v1/face-swap/${jobId}`), 404, 'Job not found');
      expect((await client.get(`/v1/clip/${jobId.toUpperCase()}`)).status).toBe(200);
    });
  });

  test.concurrent.each(['00000000-0000-4000-8000-000000000000', 'x', '1', '%20', '%00', "'; --"])(
    'there is no job %s',
    async (id) => {
      expectError(await system().rich.get(`/v1/clip/${id}`), 404, 'Job not found');
    },
  );
}
