import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '#test/seeded-random.ts';

/** A team's key, and where its jobs get their sources. */
export type Client = Readonly<{ teamId: number; apiKey: string }>;

export type CreateStreamOptions = Readonly<{
  clients: readonly Client[];
  /** Where the API instances are now; a restarted one has another address. */
  baseUrls: () => readonly string[];
  /** The body of the next create. */
  nextBody: () => Readonly<Record<string, unknown>>;
  random: SeededRandom;
  /** Creates that are under way at once, and the pause of each after its answer. */
  callers: number;
  pauseMs: number;
}>;

/** A create that the service answered with 200. */
export type AcceptedCreate = Readonly<{ jobId: string; teamId: number; costCents: number; clips: number }>;

const requestLimitMs = 15_000;
const againMs = 250;

/**
 * Clients that create jobs without pause. Each repeats a create under its Idempotency-Key, through any
 * instance, until it is accepted: so every create is accepted once in the end, whatever is killed meanwhile.
 */
export class CreateStream {
  readonly accepted: AcceptedCreate[] = [];
  /** Answers that no outage explains. */
  readonly surprises: string[] = [];
  unclear = 0;
  readonly #options: CreateStreamOptions;
  readonly #callers: Promise<void>[];
  #isStopped = false;

  constructor(options: CreateStreamOptions) {
    this.#options = options;
    this.#callers = Array.from({ length: options.callers }, () => this.#call());
  }

  /** No new creates; resolves when those under way are accepted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
  }

  async #call(): Promise<void> {
    const { clients, random, nextBody, pauseMs } = this.#options;
    while (!this.#isStopped) {
      const client = pick(clients, random);
      await this.#createUntilAccepted(client, JSON.stringify(nextBody()));
      await delay(pauseMs);
    }
  }

  async #createUntilAccepted(client: Client, body: string): Promise<void> {
    const idempotencyKey = randomUUID();
    for (;;) {
      const answer = await this.#create(client, body, idempotencyKey);
      if (answer === 'unclear') {
        this.unclear += 1;
        await delay(againMs);
        continue;
      }
      if (answer.status === 200) this.accepted.push(acceptedCreate(client, answer.body));
      else this.surprises.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      return;
    }
  }

  async #create(client: Client, body: string, idempotencyKey: string): Promise<'unclear' | Answer> {
    try {
      const response = await fetch(`${pick(this.#options.baseUrls(), this.#options.random)}/v1/clip`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': client.apiKey,
          'idempotency-key': idempotencyKey,
        },
        body,
        signal: AbortSignal.timeout(requestLimitMs),
      });
      const answer = { status: response.status, body: (await response.json()) as AnswerBody };
      return response.status === 503 ? 'unclear' : answer;
    } catch {
      // A killed instance: refused, cut off in the middle, or late.
      return 'unclear';
    }
  }
}

type AnswerBody = Readonly<{ job_id?: string; cost_cents?: number; num_clips?: number }>;
type Answer = Readonly<{ status: number; body: AnswerBody }>;

function acceptedCreate({ teamId }: Client, body: AnswerBody): AcceptedCreate {
  const { job_id: jobId = '', cost_cents: costCents = 0, num_clips: clips = 0 } = body;
  return { jobId, teamId, costCents, clips };
}

function pick<Item>(items: readonly Item[], random: SeededRandom): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}
