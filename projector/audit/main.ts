import { runAudit } from './run-audit.ts';

/** `npm run audit`: what happened to the money, from the log. */

const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());
// A reader such as `head` may go away early; that is no failure.
process.stdout.on('error', () => process.exit());

process.exitCode = await runAudit(process.argv.slice(2), {
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  output: {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
  },
  signal: stopping.signal,
});
