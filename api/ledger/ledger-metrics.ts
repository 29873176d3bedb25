import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '#infra/metrics.ts';

/** What the ledger counts. */

const registers = [metrics];

export const commandsDecided = new Counter({
  name: 'clipledger_ledger_commands_total',
  help: 'Commands decided, by outcome: accepted, replayed or the refusal.',
  labelNames: ['outcome'],
  registers,
});

export const batchSize = new Histogram({
  name: 'clipledger_ledger_batch_commands',
  help: 'Commands decided in one transaction.',
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  registers,
});

export const transactionSeconds = new Histogram({
  name: 'clipledger_ledger_transaction_seconds',
  help: 'Duration of one ledger transaction, from its first request to its commit.',
  buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
  registers,
});

export const rebuildSeconds = new Histogram({
  name: 'clipledger_ledger_rebuild_seconds',
  help: 'Time from fencing the owner before to having the state, at a take-over.',
  buckets: [0.05, 0.1, 0.5, 1, 5, 20, 60, 300],
  registers,
});

export const ownedPartitions = new Gauge({
  name: 'clipledger_ledger_owned_partitions',
  help: 'Partitions of wallet.commands that this process decides for.',
  registers,
});
