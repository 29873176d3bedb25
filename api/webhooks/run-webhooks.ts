import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '#infra/postgres/pool.ts';
import type { HttpService } from '../http/http-service.ts';
import { announceFinishedJobs } from './announce.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import {
  type BusyLane,
  type ClaimedDelivery,
  claimDueDeliveries,
  deleteOldDeliveries,
  giveBack,
  measureBacklog,
  recordAttempt,
} from './delivery-queue.ts';
import { retryPauseMs } from './retry-schedule.ts';
import { webhookAttempts, webhookBacklogSeconds, webhooksPending } from './webhook-metrics.ts';

const CONNECTIONS = 3;
/** How often new work is looked for where nothing else wakes the loop. */
const LOOK_MS = 1_000;
const LOOK_AFTER_FAILURE_MS = 3_000;
/** Attempts at the same time: in this instance, for one team, and for one team to one host. */
const MOST_AT_ONCE = 32;
const MOST_PER_TEAM = 8;
const MOST_PER_LANE = 4;
/** Beyond the time limit of the request itself: for the reads before it and the record after it. */
const LEASE_MARGIN_MS = 15_000;
/** Rows that are gone come back with the rebuild that dropped them. */
const NOT_READABLE_PAUSE_MS = 10_000;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEPT_MS = 90 * DAY_MS;
const DELETED_AT_ONCE = 5_000;

type WebhookService = HttpService & { readonly masterKey: Buffer };

/**
 * Announces finished jobs to their callbacks until `stopping` aborts; then it resolves once the attempts under
 * way have ended, or have been broken off by `abandoning`. Any number of instances share the work. An instance
 * that is killed in the middle of an attempt leaves a claim that runs out, and another attempt is made: at
 * least once, with the same webhook-id.
 */
export async function runWebhooks(
  httpService: HttpService,
  signals: { readonly stopping: AbortSignal; readonly abandoning: AbortSignal },
): Promise<void> {
  const { config, log } = httpService;
  const masterKey = config.WEBHOOK_MASTER_KEY;
  if (masterKey === undefined) return log.info('WEBHOOK_MASTER_KEY is not set: no webhooks are sent.');
  // Apart from the requests' connections: a burst of deliveries must not make requests wait.
  const pool = openPool({ ...config, DATABASE_POOL_SIZE: CONNECTIONS }, log, 'clipledger-webhooks');
  try {
    await deliverWebhooks({ ...httpService, pool, masterKey }, signals);
  } finally {
    await pool.end();
  }
}

async function deliverWebhooks(
  service: WebhookService,
  { stopping, abandoning }: Parameters<typeof runWebhooks>[1],
): Promise<void> {
  const attempts = new Attempts(service, abandoning);
  const upkeep = new Upkeep(service);
  while (!stopping.aborted) {
    let pauseMs = LOOK_MS;
    try {
      await upkeep.run();
      await attempts.startDue();
    } catch (error) {
      pauseMs = LOOK_AFTER_FAILURE_MS;
      service.log.warn({ err: error }, 'Webhooks could not be looked after; trying again.');
    }
    await attempts.untilOneEnds(jittered(pauseMs), stopping);
  }
  await attempts.untilAllEnd();
}

/** Instances that were started together must not look together for ever. */
const jittered = (durationMs: number): number => durationMs * (0.75 + Math.random() / 2);

/** The attempts that are under way in this instance. */
class Attempts {
  readonly #service: WebhookService;
  readonly #abandoning: AbortSignal;
  readonly #running = new Map<ClaimedDelivery, Promise<void>>();

  constructor(service: WebhookService, abandoning: AbortSignal) {
    this.#service = service;
    this.#abandoning = abandoning;
  }

  async startDue(): Promise<void> {
    const most = MOST_AT_ONCE - this.#running.size;
    if (most <= 0) return;
    const claimed = await claimDueDeliveries(this.#service.pool, {
      most,
      perLane: MOST_PER_LANE,
      perTeam: MOST_PER_TEAM,
      busy: this.#busyLanes(),
      leaseMs: this.#service.config.WEBHOOK_TIMEOUT + LEASE_MARGIN_MS,
    });
    for (const delivery of claimed) {
      const ended = this.#attempt(delivery).finally(() => this.#running.delete(delivery));
      this.#running.set(delivery, ended);
    }
  }

  /** An attempt that ends makes room for the next one, so nobody should wait for the next look then. */
  async untilOneEnds(limitMs: number, stopping: AbortSignal): Promise<void> {
    if (stopping.aborted) return;
    const wake = new AbortController();
    const stop = () => wake.abort();
    stopping.addEventListener('abort', stop, { once: true });
    const pause = delay(limitMs, undefined, { signal: wake.signal }).catch(() => undefined);
    await Promise.race([pause, ...this.#running.values()]);
    stopping.removeEventListener('abort', stop);
    wake.abort();
  }

  async untilAllEnd(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  #busyLanes(): readonly BusyLane[] {
    const lanes = new Map<string, BusyLane>();
    for (const { teamId, host } of this.#running.keys()) {
      const key = `${teamId} ${host}`;
      lanes.set(key, { teamId, host, count: (lanes.get(key)?.count ?? 0) + 1 });
    }
    return [...lanes.values()];
  }

  /** Never rejects: an attempt of which nothing is recorded is made again when its claim runs out. */
  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { log } = this.#service;
    const { deliveryId, jobId, teamId, host, attempt } = delivery;
    const fields = { deliveryId, jobId, teamId, host, attempt };
    try {
      const outcome = await this.#attemptAndRecord(delivery);
      webhookAttempts.inc({ outcome });
      log.info({ ...fields, outcome }, 'A webhook was attempted.');
    } catch (error) {
      log.error({ ...fields, err: error }, 'A webhook could not be attempted, or its outcome not recorded.');
    }
  }

  async #attemptAndRecord(
    delivery: ClaimedDelivery,
  ): Promise<'delivered' | 'retried' | 'failed' | 'not-made'> {
    const { pool } = this.#service;
    const outcome = await attemptDelivery(delivery, this.#service, this.#abandoning);
    if (outcome.outcome === 'not-made') {
      await giveBack(pool, delivery, outcome.because === 'stopping' ? 0 : NOT_READABLE_PAUSE_MS);
      return 'not-made';
    }
    const { statusCode } = outcome;
    if (outcome.outcome === 'delivered') {
      await recordAttempt(pool, delivery, { status: 'delivered', pauseMs: 0, statusCode, error: null });
      return 'delivered';
    }
    const { error, isFinal, askedMs } = outcome;
    const pauseMs = isFinal ? undefined : retryPauseMs(delivery.attempt, Math.random(), askedMs);
    const status = pauseMs === undefined ? 'failed' : 'pending';
    await recordAttempt(pool, delivery, { status, pauseMs: pauseMs ?? 0, statusCode, error });
    return status === 'failed' ? 'failed' : 'retried';
  }
}

/** What has to be done from time to time, each at its own pace. */
class Upkeep {
  readonly #tasks: readonly { run: () => Promise<void>; everyMs: number; nextMs: number }[];

  constructor(service: WebhookService) {
    const { pool } = service;
    this.#tasks = [
      // Rows can come late, as when the projector was away; so everything recent is looked at now and then.
      { run: () => announceFinishedJobs(pool, 'recent'), everyMs: MINUTE_MS, nextMs: 0 },
      { run: () => announceFinishedJobs(pool, 'just-now'), everyMs: LOOK_MS / 2, nextMs: 0 },
      { run: () => reportBacklog(service), everyMs: 5_000, nextMs: 0 },
      {
        run: () => deleteOldDeliveries(pool, { olderThanMs: KEPT_MS, most: DELETED_AT_ONCE }),
        everyMs: 10 * MINUTE_MS,
        nextMs: 0,
      },
    ];
  }

  async run(): Promise<void> {
    for (const task of this.#tasks) {
      if (task.nextMs > performance.now()) continue;
      await task.run();
      task.nextMs = performance.now() + task.everyMs;
    }
  }
}

async function reportBacklog({ pool }: WebhookService): Promise<void> {
  const { pending, oldestDueSeconds } = await measureBacklog(pool);
  webhooksPending.set(pending);
  webhookBacklogSeconds.set(oldestDueSeconds);
}
