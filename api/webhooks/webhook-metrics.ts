import { Counter, Gauge } from 'prom-client';
import { metrics } from '#infra/metrics.ts';

/** `delivered`, `retried` (will be tried again), `failed` (will not), `not-made` (does not count). */
export const webhookAttempts = new Counter({
  name: 'clipledger_webhook_attempts_total',
  help: 'Attempts to deliver a webhook, by outcome.',
  labelNames: ['outcome'],
  registers: [metrics],
});

export const webhooksPending = new Gauge({
  name: 'clipledger_webhooks_pending',
  help: 'Webhooks that are still to be delivered, as all instances see it.',
  registers: [metrics],
});

export const webhookBacklogSeconds = new Gauge({
  name: 'clipledger_webhook_backlog_seconds',
  help: 'For how long the longest due webhook has been waiting for its attempt.',
  registers: [metrics],
});
