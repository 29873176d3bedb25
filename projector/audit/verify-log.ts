import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import type { Topic } from '#schemas/topics.ts';
import { readPositions } from '../positions.ts';
import { beginSnapshot } from './audit-statements.ts';
import { type Fault, faultAt, placeOf } from './fault.ts';
import { LogVerifier } from './log-verifier.ts';
import { type Offsets, offsetKey, readMerged } from './read-merged.ts';
import { RowAudit } from './row-audit.ts';

const auditedTopics: readonly Topic[] = ['team.events', 'wallet.events', 'job.events'];

/**
 * A charge and its job are one transaction in two topics, whose ends are not asked for at the same moment. What
 * lacks its other half at the end is looked for a while longer: for more than a transaction can take, but not
 * in a log to which nothing is added.
 */
const PAIRING_LIMIT_MS = 15_000;
const PAIRING_QUIET_MS = 1_500;
const PAIRING_LOOK_MS = 200;

export type VerifyReport = Readonly<{
  ok: boolean;
  events: number;
  teams: number;
  seconds: number;
  /** Whether the rows in Postgres were compared. */
  postgres: 'compared' | 'not compared';
  balanceCents: number;
  faults: readonly Fault[];
}>;

/**
 * Replays the whole log and checks it, and the rows in Postgres against it when there is a `database`. The rows
 * are compared with the log up to the positions recorded beside them, so it makes no difference that the
 * service is at work meanwhile.
 */
export async function verifyLog(
  kafka: KafkaConnection,
  database: pg.ClientBase | undefined,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const startedMs = performance.now();
  const verifier = new LogVerifier({ partitionCount: await kafka.partitionCount('wallet.events') });
  const replay = new Replay(kafka, verifier, signal);
  const rowFaults = database === undefined ? [] : await compareRows(kafka, database, replay);
  await replay.readOn({});
  const unpaired = await pairUp(replay, signal);
  const faults = [...verifier.faults, ...rowFaults, ...unpaired];
  const teams = [...verifier.teams.values()];
  return {
    ok: faults.length === 0,
    events: verifier.eventCount,
    teams: teams.length,
    seconds: Math.round(performance.now() - startedMs) / 1_000,
    postgres: database === undefined ? 'not compared' : 'compared',
    balanceCents: teams.reduce(
      (sum, { replay: { wallet } }) => sum + (wallet.status === 'open' ? wallet.balanceCents : 0),
      0,
    ),
    faults,
  };
}

/** Reads on in the log from where it came to last. */
class Replay {
  readonly verifier: LogVerifier;
  readonly #kafka: KafkaConnection;
  readonly #signal: AbortSignal;
  readonly #nextOffsets = new Map<string, number>();

  constructor(kafka: KafkaConnection, verifier: LogVerifier, signal: AbortSignal) {
    this.#kafka = kafka;
    this.verifier = verifier;
    this.#signal = signal;
  }

  get nextOffsets(): Offsets {
    return this.#nextOffsets;
  }

  /** Verifies up to `to`, or to the log's end, and hands on to `rows` what is right. */
  async readOn({ to, rows }: { readonly to?: Offsets; readonly rows?: RowAudit }): Promise<void> {
    const range = { topics: auditedTopics, from: new Map(this.#nextOffsets), to, signal: this.#signal };
    for await (const chunk of readMerged(this.#kafka, range)) {
      for (const record of chunk.records) {
        const verified = this.verifier.accept(record);
        if (verified !== undefined && rows !== undefined)
          rows.accept(
            placeOf(record, 'event_id' in verified.event.value ? verified.event.value.event_id : null),
            verified,
          );
      }
      this.#nextOffsets.set(offsetKey(chunk), chunk.nextOffset);
      await rows?.compareTransactions();
    }
  }
}

async function compareRows(
  kafka: KafkaConnection,
  database: pg.ClientBase,
  replay: Replay,
): Promise<readonly Fault[]> {
  await beginSnapshot(database);
  const recorded = (await readPositions(database)).filter(({ topic }) =>
    auditedTopics.some((name) => name === topic),
  );
  const positions = new Map(
    recorded.map(({ topic, partition, nextOffset }) => [`${topic}/${partition}`, nextOffset]),
  );
  const rows = new RowAudit(database, replay.verifier);
  await replay.readOn({ to: positions, rows });
  const ahead = recorded.filter(
    ({ topic, partition, nextOffset }) => (replay.nextOffsets.get(`${topic}/${partition}`) ?? 0) < nextOffset,
  );
  if (ahead.length > 0)
    return ahead.map(({ topic, partition, nextOffset }) => {
      const end = replay.nextOffsets.get(`${topic}/${partition}`) ?? 0;
      const place = { topic, partition, offset: end, eventId: null };
      const problem = `the rows in Postgres hold events up to offset ${nextOffset}, but the log ends here: events are lost, or this is another log.`;
      return faultAt(place, 'gap', null, problem);
    });
  await rows.compareStates(positions, await kafka.partitionCount('wallet.events'));
  await database.query('COMMIT');
  return rows.faults;
}

/** The faults of charges and jobs that were alone at the end of the log and stay so. */
async function pairUp(replay: Replay, signal: AbortSignal): Promise<readonly Fault[]> {
  const { verifier } = replay;
  const alone = verifier.pairs.unpaired;
  const faults = () =>
    verifier.pairs
      .faults(alone)
      .filter(({ teamId }) => teamId === null || verifier.teams.get(teamId)?.isBroken !== true);
  const startedMs = performance.now();
  let movedMs = startedMs;
  while (faults().length > 0) {
    const before = verifier.eventCount;
    await replay.readOn({});
    const nowMs = performance.now();
    if (verifier.eventCount > before) movedMs = nowMs;
    if (nowMs - movedMs > PAIRING_QUIET_MS || nowMs - startedMs > PAIRING_LIMIT_MS) break;
    await delay(PAIRING_LOOK_MS, undefined, { signal });
  }
  return faults();
}
