import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const tailLines = 25;
const tickMs = 1_000;

/** The set-up cannot go on; the message says why and what to do. */
export class SetupFailure extends Error {}

/**
 * Runs a long command quietly: its output goes to `logFile`, and the terminal sees one line with the
 * time that passes. Throws a `SetupFailure` with the end of the log when it fails.
 *
 * @param {{ what: string, command: string, args: string[], logFile: string, cwd?: string, env?: NodeJS.ProcessEnv }} step
 */
export async function runLogged({ what, command, args, logFile, cwd, env }) {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w');
  const progress = showProgress(what);
  let outcome;
  try {
    outcome = await runToEnd(command, args, { cwd, env, stdio: ['ignore', log, log] });
  } finally {
    closeSync(log);
  }
  progress.end(outcome === 'done' ? 'done' : 'failed');
  if (outcome === 'done') return;
  const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-tailLines).join('\n');
  throw new SetupFailure(
    `${tail}\n\n${what}: \`${command} ${args.join(' ')}\` ${outcome}. The whole log: ${logFile}`,
  );
}

/** One line that grows old on a terminal; a first and a last line elsewhere. */
function showProgress(what) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  const onTerminal = process.stderr.isTTY === true;
  process.stderr.write(onTerminal ? `set-up: ${what} …` : `set-up: ${what} …\n`);
  const tick =
    onTerminal && setInterval(() => process.stderr.write(`\rset-up: ${what} … ${seconds()} s`), tickMs);
  return {
    end(result) {
      if (tick) clearInterval(tick);
      process.stderr.write(`${onTerminal ? '\r' : ''}set-up: ${what} … ${result} (${seconds()} s)\n`);
    },
  };
}

/** @returns {Promise<string>} `done`, or how it ended, for a sentence */
function runToEnd(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    child.once('error', (error) => resolve(`could not be run (${error.message})`));
    child.once('exit', (code, signal) => {
      if (code === 0) resolve('done');
      else resolve(signal === null ? `ended with code ${code}` : `was stopped by ${signal}`);
    });
  });
}
