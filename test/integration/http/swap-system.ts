import { readFile } from 'node:fs/promises';
import { parseConfig } from '#infra/config.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team } from '../api-fixture.ts';
import { type Form, type FormPart, file } from './form.ts';
import { openSwapSources, type SwapSources } from './swap-sources.ts';

/** The most that a file may have here. */
export const maxBytes = 4_000_000;

type Asked = Readonly<{ team?: Team; headers?: Record<string, string> }>;

/** A running system that face swaps are ordered from, with sources that it is let into. */
export class SwapSystem {
  readonly fixture: ApiFixture;
  readonly sources: SwapSources;
  readonly storage: ObjectStorage;
  /** A team that can pay for anything. */
  readonly rich: Team;

  private constructor(fixture: ApiFixture, sources: SwapSources, rich: Team) {
    this.fixture = fixture;
    this.sources = sources;
    this.storage = ObjectStorage.connect(storageSettings(parseConfig(fixture.environment)));
    this.rich = rich;
  }

  /** Opened with so many instances. */
  static async open(instances: number): Promise<readonly [SwapSystem, readonly ApiInstance[]]> {
    const sources = await openSwapSources();
    const fixture = await ApiFixture.open({
      RATE_LIMIT_PER_MINUTE: '100000',
      EGRESS_ALLOW: sources.host,
      FACE_SWAP_MAX_BYTES: String(maxBytes),
    });
    const apis = await Promise.all(Array.from({ length: instances }, () => fixture.startApi()));
    return [new SwapSystem(fixture, sources, await fixture.createTeam({ cents: 1_000_000 })), apis];
  }

  async close(): Promise<void> {
    this.storage.close();
    await this.fixture.close();
    await this.sources.close();
  }

  postJson(api: ApiInstance, body: unknown, { team = this.rich, headers = {} }: Asked = {}) {
    return api.request('POST', '/v1/face-swap', { key: team.key, body, headers });
  }

  async postForm(
    api: ApiInstance,
    form: Form,
    { team = this.rich, headers = {} }: Asked = {},
  ): Promise<ApiAnswer> {
    const response = await fetch(`${api.url}/v1/face-swap`, {
      method: 'POST',
      headers: { 'x-api-key': team.key, 'content-type': form.contentType, ...headers },
      body: new Uint8Array(form.body),
    });
    const body = (await response.json()) as ApiAnswer['body'];
    return { status: response.status, headers: response.headers, body };
  }

  /** One of the sources as a file of a form. */
  async fileOf(name: string, field: string): Promise<FormPart> {
    return file(field, await readFile(this.sources.path(name)), name);
  }

  /** Two of the sources by their URLs. */
  urls(video: string, face = 'face.jpg') {
    return { video_url: this.sources.url(video), face_image_url: this.sources.url(face) };
  }

  get silentUrl(): string {
    return `http://${this.sources.host}/silent/v.mp4`;
  }

  async debitsOf({ teamId }: Team): Promise<readonly number[]> {
    const { rows } = await this.fixture.pool.query(
      `SELECT amount_cents FROM read_model.wallet_transactions WHERE team_id = $1 AND type = 'WalletDebited'`,
      [teamId],
    );
    return rows.map(({ amount_cents }) => amount_cents);
  }

  /** The keys of a job's uploads, or of all. */
  async uploadsOf(jobId: unknown = ''): Promise<readonly string[]> {
    const keys: string[] = [];
    for await (const { key } of this.storage.list(`uploads/${jobId}`)) keys.push(key);
    return keys;
  }
}
