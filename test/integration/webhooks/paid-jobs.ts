import { randomUUID } from 'node:crypto';
import { commandEnvelope } from '#api/command-envelope.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { type ApiFixture, type Team, until } from '../api-fixture.ts';
import { clipCompleted, clipFailed, clipOf } from '../clip-jobs.ts';

type JobRow = { team_id: number; debit_id: string };

/** Paid jobs that end as the test says, as if workers had done them. */
export class PaidJobs {
  readonly #fixture: ApiFixture;
  readonly #appender: Appender;

  private constructor(fixture: ApiFixture, appender: Appender) {
    this.#fixture = fixture;
    this.#appender = appender;
  }

  static async open(fixture: ApiFixture): Promise<PaidJobs> {
    return new PaidJobs(fixture, await openAppender(fixture.kafka, { log: fixture.log }));
  }

  /** Has a clip job charged and requested, whatever its callback's URL; gives its id. */
  async request(team: Team, callbackUrl: string | null, clips = 1): Promise<string> {
    const jobId = randomUUID();
    await this.#fixture.submit({
      name: 'RequestJob',
      value: {
        ...commandEnvelope({ teamId: team.teamId, actor: `key:${team.keyId}`, now: new Date() }),
        job_id: jobId,
        kind: 'clip',
        item_count: clips,
        item_cents: 150,
        request_hash: jobId,
        job_deadline_at: Date.now() + 3_600_000,
        clip: { ...plainClipOptions, num_clips: clips },
        face_swap: null,
        callback_url: callbackUrl,
      },
    });
    return jobId;
  }

  /** Ends one clip as a worker would, at `occurredAtMs`. */
  async endClip(
    jobId: string,
    end: { readonly item?: number; readonly error?: string; readonly occurredAtMs?: number } = {},
  ): Promise<void> {
    const clip = {
      ...(await clipOf(this.#fixture.pool, jobId, end.item ?? 0)),
      ...(end.occurredAtMs !== undefined && { occurred_at: end.occurredAtMs }),
    };
    const record =
      end.error === undefined ? clipCompleted(clip, { title: 'A title' }) : clipFailed(clip, end.error);
    await this.#appender.append([record]);
  }

  /** The same for a face swap. */
  async requestSwap(team: Team, callbackUrl: string): Promise<string> {
    const jobId = randomUUID();
    await this.#fixture.submit({
      name: 'RequestJob',
      value: {
        ...commandEnvelope({ teamId: team.teamId, actor: `key:${team.keyId}`, now: new Date() }),
        job_id: jobId,
        kind: 'face_swap',
        item_count: 1,
        item_cents: 200,
        request_hash: jobId,
        job_deadline_at: Date.now() + 3_600_000,
        clip: null,
        face_swap: {
          video_url: 'https://example.com/talk.mp4',
          video_object_key: null,
          face_image_url: 'https://example.com/face.jpg',
          face_image_object_key: null,
          mode: 'face',
          duration_seconds: 10,
        },
        callback_url: callbackUrl,
      },
    });
    return jobId;
  }

  /** Ends a face swap as a worker would. */
  async endSwap(jobId: string, error?: string): Promise<void> {
    const { team_id, debit_id } = await this.#rowOf(jobId);
    const common = { event_id: randomUUID(), job_id: jobId, occurred_at: Date.now(), team_id, debit_id };
    const value =
      error === undefined
        ? encodeRecord('SwapCompleted', {
            ...common,
            object_key: `results/${jobId}/swap.mp4`,
            sheet_object_key: null,
            engine: 'test',
            mode: 'face',
            duration_ms: 10_000,
            width: 640,
            height: 360,
            byte_size: 1,
            frame_count: 250,
            swapped_frame_count: 250,
            missed_frame_count: 0,
            segment_count: 1,
            notes: [],
          })
        : encodeRecord('SwapFailed', { ...common, code: 'BROKEN', error });
    await this.#appender.append([{ topic: 'job.events', key: jobId, value }]);
  }

  /** A job that is finished, or will be as soon as its events are rows. */
  async finished(team: Team, callbackUrl: string | null): Promise<string> {
    const jobId = await this.request(team, callbackUrl);
    await this.endClip(jobId);
    return jobId;
  }

  /** The ledger does not always know where in job.events a request will be, so its rows are waited for. */
  async #rowOf(jobId: string): Promise<JobRow> {
    let row: JobRow | undefined;
    await until(`job ${jobId} to be a row`, async () => {
      ({
        rows: [row],
      } = await this.#fixture.pool.query<JobRow>(
        'SELECT team_id, debit_id FROM read_model.jobs WHERE job_id = $1',
        [jobId],
      ));
      return row !== undefined;
    });
    if (row === undefined) throw new Error('A row that was there is gone.');
    return row;
  }

  close(): Promise<void> {
    return this.#appender.close();
  }
}
