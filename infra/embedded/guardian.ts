/**
 * The guardian outlives its starter by a moment: it holds the other end of a pipe, and when that pipe
 * ends (the starter has gone, kill -9 included) it stops every process it was told of. It reads
 * lines `add PID SIGNAL LIMIT_MS` and `remove PID`, and runs in a session of its own, where the
 * terminal's Ctrl-C does not reach it.
 */
import { createInterface } from 'node:readline';
import { stopProcess } from './process-table.ts';

type Ward = { readonly signal: NodeJS.Signals; readonly limitMs: number };

const wards = new Map<number, Ward>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [order, pid, signal, limitMs] = line.split(' ');
    if (order === 'add')
      wards.set(Number(pid), { signal: signal as NodeJS.Signals, limitMs: Number(limitMs) });
    if (order === 'remove') wards.delete(Number(pid));
  })
  .on('close', () => {
    void Promise.all([...wards].map(([pid, { signal, limitMs }]) => stopProcess(pid, signal, limitMs))).then(
      () => process.exit(0),
    );
  });
