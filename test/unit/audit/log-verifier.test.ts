import { describe, expect, test } from 'vitest';
import { LogVerifier } from '#projector/audit/log-verifier.ts';
import { forgeries } from '#test/unit/projector/forged-histories.ts';
import { busyHistory, type HistoryRecord } from '#test/unit/projector/history.ts';
import { asRead, PARTITIONS } from '#test/unit/projector/log-records.ts';

const audited = (records: readonly HistoryRecord[]) =>
  asRead(records).filter(({ topic }) => topic !== 'job.progress');

function verify(records: readonly HistoryRecord[]) {
  const verifier = new LogVerifier({ partitionCount: PARTITIONS });
  for (const record of audited(records)) verifier.accept(record);
  const { faults, pairs, teams } = verifier;
  return { verifier, faults: [...faults, ...pairs.faults(pairs.unpaired)], teams };
}

describe('a log as the ledger writes it', () => {
  test.each([1, 2, 3])('has no fault (history %i), and its balances come out', (seed) => {
    const history = busyHistory(seed, { teams: 5, jobs: 200 });
    const { faults, teams } = verify(history.records);
    expect(faults).toEqual([]);
    for (const [teamId, { replay }] of teams)
      expect(replay.wallet).toMatchObject({ status: 'open', balanceCents: history.balanceCents(teamId) });
  });

  test('has no fault whichever topic is read first', () => {
    const history = busyHistory(4, { teams: 3, jobs: 50 });
    const byTopic = Map.groupBy(audited(history.records), ({ topic }) => topic);
    const verifier = new LogVerifier();
    for (const topic of ['job.events', 'wallet.events', 'team.events'] as const)
      for (const record of byTopic.get(topic) ?? []) verifier.accept(record);
    expect([...verifier.faults, ...verifier.pairs.unpaired]).toEqual([]);
  });
});

describe('a log that was tampered with', () => {
  test.each(forgeries.map((forgery) => [forgery.what, forgery] as const))('%s is named', (_, forgery) => {
    const [first] = verify(forgery.records).faults;
    expect(first).toMatchObject({ kind: forgery.kind, eventId: forgery.eventId });
    expect(first?.problem).toMatch(forgery.says);
    expect(first?.remedy).not.toBe('');
  });

  test('a team’s first fault is the only one named, and other teams are still checked', () => {
    const history = busyHistory(8, { teams: 2, jobs: 40 });
    const indexes = history.records.flatMap(({ topic, key }, index) =>
      topic === 'wallet.events' && key === '1' ? [index] : [],
    );
    const { faults, teams } = verify(history.records.toSpliced(indexes[5] ?? 0, 1));
    expect(faults.filter(({ kind }) => kind !== 'unpaired')).toHaveLength(1);
    expect(teams.get(2)?.replay.wallet).toMatchObject({ balanceCents: history.balanceCents(2) });
  });
});
