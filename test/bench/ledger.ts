import type { EmbeddedStack } from '#infra/embedded/stack.ts';
import type { Contender } from './contender.ts';
import { ledgerContender } from './ledger-contender.ts';
import { type Measured, measure, nothingMeasured, percentileMs, perSecond } from './measure.ts';
import { postgresContender } from './postgres-contender.ts';

const MANY_WALLETS = 200;
const IN_FLIGHT = [1, 10, 100, 500];
const WARM_UP_IN_FLIGHT = 100;

type Wallets = 'many wallets' | 'one hot wallet';

/** Debits through the ledger and through PostgreSQL, by turns; prints one line per load and contender. */
export async function benchLedger(
  stack: EmbeddedStack,
  { secondsPerRound, rounds }: { readonly secondsPerRound: number; readonly rounds: number },
): Promise<void> {
  const contenders = [
    await ledgerContender(stack.kafkaBrokers, MANY_WALLETS),
    await postgresContender(stack.databaseUrl, { wallets: MANY_WALLETS, synchronousCommit: 'on' }),
    await postgresContender(stack.databaseUrl, { wallets: MANY_WALLETS, synchronousCommit: 'off' }),
  ];
  try {
    for (const contender of contenders) {
      await measure(() => contender.debit(pickWallet('many wallets')), {
        inFlight: WARM_UP_IN_FLIGHT,
        seconds: contender.warmUpSeconds,
        into: nothingMeasured(),
      });
    }
    console.log(header);
    for (const wallets of ['many wallets', 'one hot wallet'] as const)
      for (const inFlight of IN_FLIGHT)
        printLines(
          { wallets, inFlight },
          await measureByTurns(contenders, { wallets, inFlight, secondsPerRound, rounds }),
        );
    console.log(notes);
  } finally {
    await Promise.allSettled(contenders.map((contender) => contender.close()));
  }
}

async function measureByTurns(
  contenders: readonly Contender[],
  line: {
    readonly wallets: Wallets;
    readonly inFlight: number;
    readonly secondsPerRound: number;
    readonly rounds: number;
  },
): Promise<ReadonlyMap<string, Measured>> {
  const measured = new Map(contenders.map(({ name }) => [name, nothingMeasured()]));
  for (let round = 0; round < line.rounds; round++) {
    for (const { name, debit } of contenders) {
      const into = measured.get(name) ?? nothingMeasured();
      await measure(() => debit(pickWallet(line.wallets)), {
        inFlight: line.inFlight,
        seconds: line.secondsPerRound,
        into,
      });
    }
  }
  return measured;
}

const pickWallet = (wallets: Wallets): number =>
  wallets === 'one hot wallet' ? 1 : 1 + Math.floor(Math.random() * MANY_WALLETS);

const header = [
  'wallets'.padEnd(15),
  'in flight'.padStart(9),
  '  ',
  'by'.padEnd(18),
  'debits/s'.padStart(9),
  'p50 ms'.padStart(9),
  'p99 ms'.padStart(9),
  'ledger is'.padStart(12),
].join('');

function printLines(
  { wallets, inFlight }: { readonly wallets: Wallets; readonly inFlight: number },
  measured: ReadonlyMap<string, Measured>,
): void {
  const ledger = measured.get('ledger') ?? nothingMeasured();
  for (const [name, contender] of measured) {
    const ratio = name === 'ledger' ? '' : `${(perSecond(ledger) / perSecond(contender)).toFixed(1)} x`;
    console.log(
      [
        wallets.padEnd(15),
        String(inFlight).padStart(9),
        '  ',
        name.padEnd(18),
        String(Math.round(perSecond(contender))).padStart(9),
        percentileMs(contender, 0.5).toFixed(1).padStart(9),
        percentileMs(contender, 0.99).toFixed(1).padStart(9),
        ratio.padStart(12),
      ].join(''),
    );
  }
}

const notes = `
One debit through the ledger is a command, an event with its place in the hash chain, a requested job,
snapshots and a reply, in a transaction that is exactly-once and fenced; its latency is measured as the API
sees it. The embedded Kafka does not fsync each append (a cluster has replicas for that): a power cut can
lose its last moments, which PostgreSQL at its default cannot; 'no sync' is PostgreSQL with
synchronous_commit=off, the like guarantee. Client, ledger and servers share this machine's processors.`;
