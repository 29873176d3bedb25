import type { JobProgress } from './clip-client.ts';

const tickMs = 1_000;

/** The job's progress: one line that changes on a terminal, a line for each new stage elsewhere. */
export type ProgressLine = { show(progress: JobProgress): void; end(): void };

/** Draws on stderr. */
export function createProgressLine(subject: string): ProgressLine {
  const startedAt = performance.now();
  const onTerminal = process.stderr.isTTY === true;
  let shown = '';
  const draw = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`\r\x1b[K${subject.padEnd(9)} ${shown} … ${seconds} s`);
  };
  const ticking = onTerminal ? setInterval(draw, tickMs) : undefined;
  return {
    show(progress) {
      const text = describeProgress(progress);
      if (text === shown) return;
      shown = text;
      if (onTerminal) draw();
      else process.stderr.write(`${subject.padEnd(9)} ${text}\n`);
    },
    end() {
      clearInterval(ticking);
      if (onTerminal) process.stderr.write('\r\x1b[K');
    },
  };
}

/** `rendering, 0 of 1 done`. */
export function describeProgress({ completed, total, stage }: JobProgress): string {
  return `${stage ?? 'waiting for a worker'}, ${completed} of ${total} done`;
}
