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

/** The steps under way: several may run side by side, but a terminal has one last line. */
const underWay = new Map();
let ticking;

/** A line at its start and one at its end; on a terminal the last line shows the time that passes. */
function showProgress(what) {
  const started = Date.now();
  const onTerminal = process.stderr.isTTY === true;
  underWay.set(what, started);
  if (!onTerminal) process.stderr.write(`set-up: ${what} …\n`);
  else ticking ??= setInterval(drawUnderWay, tickMs);
  if (onTerminal) drawUnderWay();
  return {
    end(result) {
      underWay.delete(what);
      const line = `set-up: ${what} … ${result} (${seconds(started)} s)\n`;
      process.stderr.write(onTerminal ? `\r\x1b[K${line}` : line);
      if (underWay.size > 0) return onTerminal && drawUnderWay();
      clearInterval(ticking);
      ticking = undefined;
    },
  };
}

function drawUnderWay() {
  const steps = [...underWay].map(([what, started]) => `${what} … ${seconds(started)} s`);
  // One row at most: a wrapped line could not be drawn over.
  const line = `set-up: ${steps.join(', ')}`.slice(0, (process.stderr.columns ?? 80) - 1);
  process.stderr.write(`\r\x1b[K${line}`);
}

function seconds(since) {
  return Math.round((Date.now() - since) / 1_000);
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
