import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** The process's one registry: each part adds its counters and histograms here. */
export const metrics = new Registry();

collectDefaultMetrics({ register: metrics, prefix: 'clipledger_' });

new Gauge({
  name: 'clipledger_process_peak_resident_memory_bytes',
  help: 'The most memory that the process has had so far; 0 where the system does not tell.',
  registers: [metrics],
  collect() {
    this.set(peakResidentBytes());
  },
});

/** Linux's high-water mark. `process.resourceUsage()` counts what was the parent's before the program was loaded. */
function peakResidentBytes(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
