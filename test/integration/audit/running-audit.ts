import { runAudit } from '#projector/audit/run-audit.ts';

/** Runs the audit's command line in this process, as with its output in a file. */
export async function audit(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  let out = '';
  let error = '';
  const exitCode = await runAudit(args, {
    env: { ...env, LOG_LEVEL: 'silent' },
    isTerminal: false,
    output: {
      out: (text) => {
        out += text;
      },
      error: (text) => {
        error += text;
      },
    },
    signal: new AbortController().signal,
  });
  return { exitCode, out, error, json: () => JSON.parse(out) };
}
