import { type ChainedEventName, sealEvent } from '#schemas/chain.ts';
import { decodeRecord, encodeRecord } from '#schemas/codec.ts';
import { History, type HistoryRecord } from './history.ts';
import { seededRandom } from './seeded-random.ts';

/** What somebody could do to a log, each way once, and what the audit must say about it. */
export type Forgery = Readonly<{
  what: string;
  kind: string;
  /** Part of the problem's sentence. */
  says: RegExp;
  records: readonly HistoryRecord[];
  /** The event that must be named. */
  eventId: string | null;
}>;

function paidHistory(): { history: History; job: ReturnType<History['requestJob']> } {
  const history = new History(seededRandom(5));
  history.openTeam(1, 1_000);
  const job = history.requestJob(1, 2);
  return { history, job };
}

const walletIndexes = (records: readonly HistoryRecord[]): readonly number[] =>
  records.flatMap(({ topic }, index) => (topic === 'wallet.events' ? [index] : []));

const eventIdAt = (records: readonly HistoryRecord[], index: number | undefined): string | null =>
  records[index ?? -1]?.eventId ?? null;

/** The record with its value changed and sealed again, as an intruder who knows the code would do. */
function resealed(record: HistoryRecord, changes: Record<string, unknown>): HistoryRecord {
  const { name, value } = decodeRecord(record.value);
  const { bytes } = sealEvent(name as ChainedEventName, { ...value, ...changes } as never);
  return { ...record, value: bytes };
}

function changedBytes(): Forgery {
  const { history } = paidHistory();
  const [, , topUp = 0] = walletIndexes(history.records);
  const record = history.records[topUp];
  if (record === undefined) throw new Error('There is no top-up.');
  const decoded = decodeRecord(record.value);
  if (decoded.name !== 'WalletToppedUp') throw new Error('The third wallet event is not the top-up.');
  const value = encodeRecord('WalletToppedUp', { ...decoded.value, amount_cents: 1_001 });
  return {
    what: 'an amount changed in place',
    kind: 'altered',
    says: /changed after sealing/,
    records: history.records.with(topUp, { ...record, value }),
    eventId: record.eventId,
  };
}

function changedAndResealed(): Forgery {
  const { history } = paidHistory();
  const [, activated = 0, topUp] = walletIndexes(history.records);
  const record = history.records[activated];
  if (record === undefined) throw new Error('There is no activation.');
  return {
    what: 'an event changed and sealed again',
    kind: 'unchained',
    says: /was replaced/,
    records: history.records.with(activated, resealed(record, { actor: 'operator:else' })),
    eventId: eventIdAt(history.records, topUp),
  };
}

function missing(): Forgery {
  const { history } = paidHistory();
  const [, , topUp = 0, debit] = walletIndexes(history.records);
  return {
    what: 'an event taken away',
    kind: 'gap',
    says: /seq 4 where 3 is due/,
    records: history.records.toSpliced(topUp, 1),
    eventId: eventIdAt(history.records, debit),
  };
}

function reordered(): Forgery {
  const { history } = paidHistory();
  const [, activated = 0, topUp = 0] = walletIndexes(history.records);
  const [first, second] = [history.records[activated], history.records[topUp]];
  if (first === undefined || second === undefined) throw new Error('The history is too short.');
  return {
    what: 'two events in each other’s place',
    kind: 'gap',
    says: /seq 3 where 2 is due/,
    records: history.records.with(activated, second).with(topUp, first),
    eventId: second.eventId,
  };
}

function repeated(): Forgery {
  const { history } = paidHistory();
  const [, , topUp = 0] = walletIndexes(history.records);
  const record = history.records[topUp];
  if (record === undefined) throw new Error('There is no top-up.');
  return {
    what: 'an event twice',
    kind: 'repeated',
    says: /seq 3, which came before/,
    records: [...history.records, record],
    eventId: record.eventId,
  };
}

function misstatedBalance(): Forgery {
  const { history } = paidHistory();
  const eventId = history.append(1, 'WalletToppedUp', {
    amount_cents: 500,
    balance_cents: 9_999,
    reference: 'wrong sum',
  });
  return {
    what: 'a stated balance that is wrong',
    kind: 'misstated',
    says: /says the balance is 9999 cents; the events give 1200/,
    records: history.records,
    eventId,
  };
}

function negative(): Forgery {
  const { history } = paidHistory();
  history.requestJob(1, 100);
  return {
    what: 'a debit beyond the balance',
    kind: 'negative',
    says: /from 700 to -14300 cents/,
    records: history.records,
    eventId: eventIdAt(history.records, walletIndexes(history.records).at(-1)),
  };
}

function refundedTwice(): Forgery {
  const { history, job } = paidHistory();
  const cause = history.failClip(job, 0);
  history.refundClip(job, 0, cause);
  history.refundClip(job, 0, cause);
  return {
    what: 'a second refund of one item',
    kind: 'unlawful',
    says: /item 0, which is refunded already/,
    records: history.records,
    eventId: eventIdAt(history.records, walletIndexes(history.records).at(-1)),
  };
}

function refundedTooMuch(): Forgery {
  const { history, job } = paidHistory();
  history.refundClip({ ...job, item_cents: 400 }, 0, history.failClip(job, 0));
  return {
    what: 'a refund over the charge',
    kind: 'unlawful',
    says: /over 400 cents; an item of its charge is 150 cents/,
    records: history.records,
    eventId: eventIdAt(history.records, walletIndexes(history.records).at(-1)),
  };
}

function refundOfNothing(): Forgery {
  const { history, job } = paidHistory();
  history.refundClip({ ...job, debit_id: history.random.uuid() }, 0, history.failClip(job, 0));
  return {
    what: 'a refund without a charge',
    kind: 'unlawful',
    says: /was never debited/,
    records: history.records,
    eventId: eventIdAt(history.records, walletIndexes(history.records).at(-1)),
  };
}

function paidTwice(): Forgery {
  const { history } = paidHistory();
  const balance = history.balanceCents(1);
  history.append(1, 'WalletToppedUp', { amount_cents: 100, balance_cents: balance + 100, reference: 'same' });
  const eventId = history.append(1, 'WalletToppedUp', {
    amount_cents: 100,
    balance_cents: balance + 200,
    reference: 'same',
  });
  return {
    what: 'a payment counted twice',
    kind: 'unlawful',
    says: /"same" was counted before/,
    records: history.records,
    eventId,
  };
}

function chargeWithoutJob(): Forgery {
  const { history } = paidHistory();
  const requested = history.records.findIndex(({ topic }) => topic === 'job.events');
  return {
    what: 'a charge without its job',
    kind: 'unpaired',
    says: /was never requested/,
    records: history.records.toSpliced(requested, 1),
    eventId: eventIdAt(history.records, walletIndexes(history.records).at(-1)),
  };
}

function jobWithoutCharge(): Forgery {
  const { history, job } = paidHistory();
  const eventId = history.random.uuid();
  const unpaid = {
    ...job,
    event_id: eventId,
    job_id: history.random.uuid(),
    debit_id: history.random.uuid(),
  };
  const value = encodeRecord('JobRequested', unpaid);
  return {
    what: 'a job without its charge',
    kind: 'unpaired',
    says: /requests a job whose charge .* is not in the log/,
    records: [...history.records, { topic: 'job.events', key: unpaid.job_id, value, eventId }],
    eventId,
  };
}

function unreadable(): Forgery {
  const { history } = paidHistory();
  const garbage = {
    topic: 'wallet.events',
    key: '1',
    value: Buffer.from('not an event'),
    eventId: '',
  } as const;
  return {
    what: 'bytes that are no event',
    kind: 'unreadable',
    says: /cannot be read/,
    records: [...history.records, garbage],
    eventId: null,
  };
}

function misplaced(): Forgery {
  const { history } = paidHistory();
  const eventId = history.append(1, 'BillingDeactivated', {});
  const records = history.records.map((record) =>
    record.eventId === eventId ? { ...record, key: '2' } : record,
  );
  return {
    what: 'an event under another team’s key',
    kind: 'misplaced',
    says: /its key is "2", its team is 1/,
    records,
    eventId,
  };
}

export const forgeries: readonly Forgery[] = [
  changedBytes(),
  changedAndResealed(),
  missing(),
  reordered(),
  repeated(),
  misstatedBalance(),
  negative(),
  refundedTwice(),
  refundedTooMuch(),
  refundOfNothing(),
  paidTwice(),
  chargeWithoutJob(),
  jobWithoutCharge(),
  unreadable(),
  misplaced(),
];
