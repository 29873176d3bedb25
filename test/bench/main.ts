import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedStack } from '#infra/embedded/stack.ts';
import { benchClips } from './clips.ts';
import { benchLedger } from './ledger.ts';
import { benchReplay } from './replay.ts';
import { benchSwaps } from './swap-speed.ts';

/** `npm run bench -- ledger|replay|clips|swaps`: how fast, beside what else one could use. */

const help = `Usage: npm run bench -- ledger [--seconds N] [--rounds N]
       npm run bench -- replay [--events N]
       npm run bench -- clips [--clips N,N] [--length N] [--source FILE]
       npm run bench -- swaps [--seconds N] [--source FILE]

ledger   Debits a second and their latency, at 1, 10, 100 and 500 in flight, on many wallets and on one,
         beside the same debit as a row-locked SQL transaction on PostgreSQL (default settings, and with
         synchronous_commit=off). Rounds of all three take turns. --seconds is the length of one round's
         share of one line (default 3), --rounds how often they take turns (default 3).
replay   Events a second that are read, decoded, checked in their hash chains and folded, beside a Java
         consumer that only reads the same topic. --events is how many (default 300000).
clips    Seconds that a job's stages take, also for each minute of its source, and their peak memory; renders beside
         bare ffmpeg calls that make the same clips, in one run. --clips is how many clips (default 1,10), --length
         how long each is (default 15 s), --source another video than the repeated sample.
swaps    Frames a second that get another face, at 360, 720 and 1080 lines in both modes, and what each stage takes,
         beside decoding and encoding alone. --seconds of the sample, or of --source (default 3).

The first two start servers of their own on this machine, and stop them. Numbers depend on what else the machine does.`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    events: { type: 'string', default: '300000' },
    clips: { type: 'string', default: '1,10' },
    length: { type: 'string', default: '15' },
    source: { type: 'string' },
  },
});
const [benchmark] = positionals;

if (values.help === true || !['ledger', 'replay', 'clips', 'swaps'].includes(benchmark ?? '')) {
  console.log(help);
  process.exit(values.help === true ? 0 : 2);
}
if (benchmark === 'clips') {
  await benchClips({
    counts: values.clips.split(',').map((count) => wholeNumber('clips', count)),
    lengthSeconds: wholeNumber('length', values.length),
    source: values.source,
  });
  process.exit();
}
if (benchmark === 'swaps') {
  await benchSwaps({ seconds: wholeNumber('seconds', values.seconds), source: values.source });
  process.exit();
}

const dataDir = await mkdtemp(join(tmpdir(), 'clipledger-bench-'));
const stack = await startEmbeddedStack({
  dataDir,
  isLasting: true,
  parts: benchmark === 'ledger' ? ['kafka', 'postgres'] : ['kafka'],
  onProgress: ({ part, message }) => console.error(`${part}: ${message}`),
});
const interrupted = () => {
  stack.kill();
  process.exit(130);
};
process.once('SIGINT', interrupted);
process.once('SIGTERM', interrupted);
try {
  if (benchmark === 'ledger') {
    await benchLedger(stack, {
      secondsPerRound: wholeNumber('seconds', values.seconds),
      rounds: wholeNumber('rounds', values.rounds),
    });
  } else await benchReplay(stack, { events: wholeNumber('events', values.events) });
} finally {
  await stack.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not ${text}.`);
}
