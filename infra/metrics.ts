import { collectDefaultMetrics, Registry } from 'prom-client';

/** The process's one registry: each part adds its counters and histograms here. */
export const metrics = new Registry();

collectDefaultMetrics({ register: metrics, prefix: 'clipledger_' });
