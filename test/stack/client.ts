import { setTimeout as delay } from 'node:timers/promises';
import { runJson } from './command.ts';
import { until } from './poll.ts';
import type { Tenant } from './tenant.ts';

/** Well below the 60 requests a minute that a key may make. */
const pollPauseMs = 1_200;
const requestLimitMs = 30_000;

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** A client of the API with one team's key, as an outsider would write it. */
export class ApiClient {
  readonly key: string;
  readonly #baseUrls: () => readonly string[];
  #requests = 0;

  /** `baseUrls` are asked for at each request, in turns: instances may come and go. */
  constructor(baseUrls: () => readonly string[], key: string) {
    this.#baseUrls = baseUrls;
    this.key = key;
  }

  get(path: string): Promise<Answer> {
    return this.#send(path, {});
  }

  post(path: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    return this.#send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Creates a clip job that must be accepted, and gives its id. */
  async createClip(request: Readonly<Record<string, unknown>>): Promise<string> {
    const { status, body } = await this.post('/v1/clip', request);
    if (status !== 200) throw new Error(`The job was refused with ${status}: ${JSON.stringify(body)}`);
    return (body as { job_id: string }).job_id;
  }

  /** Asks for a clip job's status until it is completed, and gives its clips. */
  async completedClips(jobId: string, limitMs: number): Promise<readonly ClipView[]> {
    return until(`job ${jobId} is completed`, limitMs, async () => {
      await delay(pollPauseMs);
      const { status, body } = await this.get(`/v1/clip/${jobId}`);
      const job = body as { status?: string; clips?: readonly ClipView[] };
      if (status !== 200) throw new Error(`Status ${status}: ${JSON.stringify(body)}`);
      return job.status === 'completed' ? job.clips : undefined;
    });
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const baseUrls = this.#baseUrls();
    const baseUrl = baseUrls[this.#requests++ % baseUrls.length];
    const response = await fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { ...(this.key !== '' && { 'x-api-key': this.key }), ...init.headers },
      signal: AbortSignal.timeout(requestLimitMs),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
}

export type ClipView = {
  readonly clip_id: number;
  readonly status: string;
  readonly title?: string;
  readonly download_url?: string;
  readonly error?: string;
  readonly created_at: string;
};

/** A team with active billing, money in its wallet and a key, made by the operator's commands. */
export async function createTeam(
  tenant: Tenant,
  { name, cents }: { readonly name: string; readonly cents: number },
): Promise<{ readonly teamId: number; readonly key: string }> {
  const { team_id: teamId } = (await runJson(tenant, 'admin', [
    'team',
    'create',
    '--name',
    name,
    '--json',
  ])) as {
    team_id: number;
  };
  const team = ['--team', String(teamId)];
  await runJson(tenant, 'admin', ['billing', 'activate', ...team, '--json']);
  if (cents > 0) {
    const payment = ['--cents', String(cents), '--reference', `${name}-1`];
    await runJson(tenant, 'admin', ['wallet', 'top-up', ...team, ...payment, '--json']);
  }
  return { teamId, key: await createKey(tenant, teamId, name) };
}

/** One more key of a team; `more` goes to the command as it is. */
export async function createKey(
  tenant: Tenant,
  teamId: number,
  name: string,
  more: readonly string[] = [],
): Promise<string> {
  const args = ['key', 'create', '--team', String(teamId), '--name', name, ...more, '--json'];
  const answer = await runJson(tenant, 'admin', args);
  return (answer as { key: string }).key;
}
