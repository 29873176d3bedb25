import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseConfig } from '#infra/config.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { encodeRecord } from '#schemas/codec.ts';
import type { RecordTypes } from '#schemas/records.ts';
import { ApiFixture, type Team } from '../api-fixture.ts';
import { openSwapSources, type SwapSources } from '../http/swap-sources.ts';
import { Receiver } from '../webhooks/receiver.ts';
import { type Answer, Client } from './client.ts';

const talk = fileURLToPath(new URL('../../../infra/sample/talk.mp4', import.meta.url));

type TeamTraits = NonNullable<Parameters<ApiFixture['createTeam']>[0]>;
export type TeamClient = Client & { readonly team: Team };
/** More than the whole suite spends. */
const PLENTY_CENTS = 100_000_000;
const POLL_MS = 100;

/**
 * One running service for the whole suite: two API instances and a projector. How workers end jobs has suites
 * of its own; here their events are appended as they append them, so that nobody waits for renderings.
 */
export class ContractSystem {
  readonly fixture: ApiFixture;
  /** Videos and images, on disk and on a web server. */
  readonly sources: SwapSources;
  /** Where webhooks go. */
  readonly receiver: Receiver;
  readonly baseUrls: readonly [string, string];
  /** A team with plenty of money, for whatever looks at no sums. */
  readonly rich: TeamClient;
  /** For files of the tests. */
  readonly folder: string;
  readonly #appender: Appender;

  private constructor(parts: {
    fixture: ApiFixture;
    sources: SwapSources;
    receiver: Receiver;
    baseUrls: readonly [string, string];
    rich: TeamClient;
    folder: string;
    appender: Appender;
  }) {
    this.fixture = parts.fixture;
    this.sources = parts.sources;
    this.receiver = parts.receiver;
    this.baseUrls = parts.baseUrls;
    this.rich = parts.rich;
    this.folder = parts.folder;
    this.#appender = parts.appender;
  }

  static async open(): Promise<ContractSystem> {
    const folder = await mkdtemp(join(tmpdir(), 'clipledger-contract-'));
    const [sources, receiver] = await Promise.all([openSwapSources(), Receiver.start()]);
    const fixture = await ApiFixture.open({
      RATE_LIMIT_PER_MINUTE: '1000000',
      EGRESS_ALLOW: `${sources.host},${receiver.authority}`,
      // A busy machine examines the images of many orders at once, one of a team after the other.
      PROBE_TIME_LIMIT: '5m',
      WEBHOOK_MASTER_KEY: 'a'.repeat(64),
    });
    const [first, second] = await Promise.all([fixture.startApi(), fixture.startApi()]);
    const baseUrls = [first.url, second.url] as const;
    const appender = await openAppender(fixture.kafka, { log: fixture.log });
    const team = await fixture.createTeam({ cents: PLENTY_CENTS });
    const rich = Object.assign(new Client(first.url, team.key), { team });
    return new ContractSystem({ fixture, sources, receiver, baseUrls, rich, folder, appender });
  }

  /** A client with the key of a team of its own. */
  async client(traits: TeamTraits = {}): Promise<TeamClient> {
    const team = await this.fixture.createTeam(traits);
    return Object.assign(new Client(this.baseUrls[0], team.key), { team });
  }

  /** The same client at the other instance. */
  elsewhere = (client: Client): Client => new Client(this.baseUrls[1], client.key);

  /** Ends one clip of a job as a worker does: with a file in object storage, or with the reason why not. */
  async endClip(jobId: string, item: number, end: { error: string } | { title: string }): Promise<void> {
    const { rows } = await this.fixture.pool.query(
      `SELECT job.team_id, job.debit_id, clip.clip_id
       FROM read_model.jobs AS job JOIN read_model.clips AS clip USING (job_id)
       WHERE job.job_id = $1 AND clip.item = $2`,
      [jobId, item],
    );
    const common = { event_id: randomUUID(), job_id: jobId, item, occurred_at: Date.now(), ...rows[0] };
    const value =
      'error' in end
        ? encodeRecord('ClipFailed', { ...common, code: 'BROKEN', error: end.error })
        : encodeRecord('ClipCompleted', {
            ...common,
            title: end.title,
            heading: end.title,
            object_key: await this.#putClip(`results/${jobId}/${common.clip_id}.mp4`),
            sheet_object_key: null,
            duration_ms: 34_000,
            width: 1080,
            height: 1920,
            byte_size: (await stat(talk)).size,
            source_start_ms: 0,
            source_end_ms: 34_000,
            notes: [],
          });
    await this.#appender.append([{ topic: 'job.events', key: jobId, value }]);
  }

  /** Fails a face swap as a worker does. */
  async failSwap(jobId: string, error: string): Promise<void> {
    const value = encodeRecord('SwapFailed', { ...(await this.#swapEnd(jobId)), code: 'NO_FACE', error });
    await this.#appender.append([{ topic: 'job.events', key: jobId, value }]);
  }

  /** Completes a face swap as a worker does. */
  async completeSwap(jobId: string): Promise<void> {
    const value = encodeRecord('SwapCompleted', {
      ...(await this.#swapEnd(jobId)),
      object_key: await this.#putClip(`results/${jobId}/swap.mp4`),
      sheet_object_key: null,
      engine: 'landmark',
      mode: 'fullbody',
      frame_count: 120,
      swapped_frame_count: 120,
      missed_frame_count: 0,
      segment_count: 1,
      duration_ms: 12_000,
      width: 1280,
      height: 720,
      byte_size: (await stat(talk)).size,
      notes: [],
    });
    await this.#appender.append([{ topic: 'job.events', key: jobId, value }]);
  }

  async #swapEnd(jobId: string): Promise<Omit<RecordTypes['SwapFailed'], 'code' | 'error'>> {
    const { rows } = await this.fixture.pool.query(
      'SELECT team_id, debit_id FROM read_model.jobs WHERE job_id = $1',
      [jobId],
    );
    return { event_id: randomUUID(), job_id: jobId, occurred_at: Date.now(), ...rows[0] };
  }

  /** What `path` answers once it is as wanted. */
  async untilJob(client: Client, path: string, isWanted: (body: Answer['body']) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await client.get(path);
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (isWanted(answer.body)) return answer;
      await delay(POLL_MS);
    }
  }

  async #putClip(key: string): Promise<string> {
    const storage = ObjectStorage.connect(storageSettings(parseConfig(this.fixture.environment)));
    await storage.putFile(key, talk, { contentType: 'video/mp4' });
    storage.close();
    return key;
  }

  async close(): Promise<void> {
    await this.#appender.close();
    await this.fixture.close();
    await this.sources.close();
    await this.receiver.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
