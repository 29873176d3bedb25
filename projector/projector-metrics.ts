import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '#infra/metrics.ts';

export const lagRecords = new Gauge({
  name: 'clipledger_projector_lag_records',
  help: 'Records of the partition that are in the log and not in the tables yet, as last seen.',
  labelNames: ['topic', 'partition'] as const,
  registers: [metrics],
});

export const projectedRecords = new Counter({
  name: 'clipledger_projector_records_total',
  help: 'Records that became rows.',
  labelNames: ['topic'] as const,
  registers: [metrics],
});

export const batches = new Counter({
  name: 'clipledger_projector_batches_total',
  help: 'Transactions that wrote rows and positions.',
  registers: [metrics],
});

export const applySeconds = new Histogram({
  name: 'clipledger_projector_apply_seconds',
  help: 'Duration of one transaction that writes rows and positions.',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [metrics],
});

export const restarts = new Counter({
  name: 'clipledger_projector_restarts_total',
  help: 'Times that projecting began anew after a failure.',
  registers: [metrics],
});

export const chainBreaks = new Counter({
  name: 'clipledger_projector_chain_breaks_total',
  help: 'Wallet events that did not continue their chain; anything above 0 calls for an audit.',
  registers: [metrics],
});
