import { describe, expect, test } from 'vitest';
import type { Decision } from '#api/ledger/decision.ts';
import { settlementEventId } from '#schemas/ids.ts';
import { command, fundedLedger, jobCommand, nowMs, type TestLedger, testLedger } from './ledger-fixture.ts';

const eventNames = (decision: Decision): readonly string[] =>
  decision.outcome === 'accepted'
    ? [...decision.teamEvents, ...decision.walletEvents].map(({ name }) => name)
    : [];

const refusal = (decision: Decision): string | undefined =>
  decision.outcome === 'refused' ? decision.refusal : undefined;

const balanceCents = (ledger: TestLedger): number | undefined => {
  const wallet = ledger.wallet();
  return wallet.status === 'open' ? wallet.balanceCents : undefined;
};

function chargedLedger(): { ledger: TestLedger; debitId: string; jobId: string } {
  const ledger = fundedLedger(1_000);
  const decision = ledger.decide(jobCommand());
  const answer = decision.outcome === 'accepted' ? decision.answer : {};
  return { ledger, debitId: answer.debit_id ?? '', jobId: answer.job_id ?? '' };
}

const settle = (debitId: string, jobId: string, item: number, outcome: string) =>
  command('SettleChargeItem', {
    debit_id: debitId,
    job_id: jobId,
    item,
    outcome,
    reason: 'test',
    cause_event_id: '00000000-0000-4000-a000-000000000001',
  });

describe('opening a team', () => {
  test('gives it a wallet with nothing on it and inactive billing', () => {
    const ledger = testLedger();
    expect(eventNames(ledger.decide(command('CreateTeam', { name: 'A' })))).toEqual([
      'TeamCreated',
      'WalletOpened',
    ]);
    expect(ledger.wallet()).toMatchObject({ status: 'open', active: false, balanceCents: 0, seq: 1 });
  });

  test('is refused for a number that is taken and for a name that says nothing', () => {
    const ledger = fundedLedger(0);
    expect(refusal(ledger.decide(command('CreateTeam', { name: 'B' })))).toBe('WalletExists');
    expect(refusal(testLedger().decide(command('CreateTeam', { name: '  ' })))).toBe('InvalidCommand');
  });

  test('comes before everything else', () => {
    expect(refusal(testLedger().decide(jobCommand()))).toBe('WalletNotFound');
    const topUp = command('TopUpWallet', { amount_cents: 500, reference: 'r' });
    expect(refusal(testLedger().decide(topUp))).toBe('WalletNotFound');
  });
});

describe('billing', () => {
  test('is switched once however often it is asked for', () => {
    const ledger = fundedLedger(0);
    expect(eventNames(ledger.decide(command('ActivateBilling', {})))).toEqual([]);
    expect(eventNames(ledger.decide(command('DeactivateBilling', {})))).toEqual(['BillingDeactivated']);
    expect(eventNames(ledger.decide(command('DeactivateBilling', {})))).toEqual([]);
  });

  test('that is not active lets no job be paid', () => {
    const ledger = fundedLedger(1_000);
    ledger.decide(command('DeactivateBilling', {}));
    expect(refusal(ledger.decide(jobCommand()))).toBe('BillingNotActive');
  });
});

describe('a top-up', () => {
  test('counts a reference once and answers its repetition with what was counted', () => {
    const ledger = fundedLedger(0);
    ledger.decide(command('TopUpWallet', { amount_cents: 700, reference: 'pay_1' }));
    const again = ledger.decide(command('TopUpWallet', { amount_cents: 900, reference: 'pay_1' }));
    expect(eventNames(again)).toEqual([]);
    expect(again).toMatchObject({ replayed: true, answer: { amount_cents: 700, balance_cents: 700 } });
    expect(balanceCents(ledger)).toBe(700);
  });

  test.each([0, -5, 1.5, Number.NaN, 1e13])('of %s cents is refused', (cents) => {
    const ledger = fundedLedger(0);
    const topUp = command('TopUpWallet', { amount_cents: cents, reference: 'pay_2' });
    expect(refusal(ledger.decide(topUp))).toBe('InvalidCommand');
  });
});

describe('requesting a job', () => {
  test('debits the wallet and requests the job in one decision', () => {
    const ledger = fundedLedger(1_000);
    const decision = ledger.decide(jobCommand());
    expect(eventNames(decision)).toEqual(['WalletDebited']);
    expect(decision).toMatchObject({
      jobRequested: { item_count: 2, first_clip_id: 17, clip_id_step: 3 },
      answer: { amount_cents: 300, balance_cents: 700, first_clip_id: 17 },
    });
    expect(balanceCents(ledger)).toBe(700);
  });

  test('names the debit in the job and the job in the debit', () => {
    const decision = fundedLedger(1_000).decide(jobCommand());
    if (decision.outcome === 'refused') throw new Error(decision.refusal);
    expect(decision.jobRequested?.debit_id).toBe(decision.walletEvents[0]?.value.event_id);
    expect(decision.walletEvents[0]?.value).toMatchObject({ job_id: decision.jobRequested?.job_id });
  });

  test('takes the last cent and not one more', () => {
    const ledger = fundedLedger(600);
    ledger.decide(jobCommand());
    ledger.decide(jobCommand());
    expect(balanceCents(ledger)).toBe(0);
    expect(ledger.decide(jobCommand())).toEqual({
      outcome: 'refused',
      refusal: 'InsufficientBalance',
      requiredCents: 300,
      balanceCents: 0,
    });
  });

  test('that is repeated gets the first answer and costs nothing', () => {
    const ledger = fundedLedger(1_000);
    const job = jobCommand();
    const first = ledger.decide(job);
    const second = ledger.decide(job);
    expect(second).toMatchObject({
      outcome: 'accepted',
      replayed: true,
      walletEvents: [],
      jobRequested: undefined,
    });
    expect(second.outcome === 'accepted' && first.outcome === 'accepted' && second.answer).toEqual(
      first.outcome === 'accepted' && first.answer,
    );
    expect(balanceCents(ledger)).toBe(700);
  });

  test('that is repeated after its deadline, or with the wallet empty by now, still gets the first answer', () => {
    const ledger = fundedLedger(300);
    const job = jobCommand();
    ledger.decide(job);
    const late = { name: 'RequestJob', value: { ...job.value, deadline_at: nowMs - 1 } } as typeof job;
    expect(ledger.decide(late)).toMatchObject({ outcome: 'accepted', replayed: true });
  });

  test('with the same id and another request is a conflict', () => {
    const ledger = fundedLedger(1_000);
    const job = jobCommand();
    ledger.decide(job);
    const other = jobCommand({ command_id: job.value.command_id, request_hash: 'bb' });
    expect(refusal(ledger.decide(other))).toBe('IdempotencyConflict');
    const topUp = command('TopUpWallet', {
      amount_cents: 500,
      reference: 'x',
      command_id: job.value.command_id,
    });
    expect(refusal(ledger.decide(topUp))).toBe('IdempotencyConflict');
    expect(balanceCents(ledger)).toBe(700);
  });

  test('that comes too late is refused', () => {
    expect(refusal(fundedLedger(1_000).decide(jobCommand({ deadline_at: nowMs - 1 })))).toBe(
      'DeadlinePassed',
    );
    expect(fundedLedger(1_000).decide(jobCommand({ deadline_at: nowMs })).outcome).toBe('accepted');
  });

  test.each([
    { item_count: 0 },
    { item_count: -1 },
    { item_count: 1.5 },
    { item_cents: 0 },
    { item_cents: -150 },
    { item_cents: 2 ** 60 },
  ])('with %j is refused', (fields) => {
    const ledger = fundedLedger(1_000);
    expect(refusal(ledger.decide(jobCommand(fields)))).toBe('InvalidCommand');
    expect(balanceCents(ledger)).toBe(1_000);
  });

  test('gives a job without clips no clip ids', () => {
    const decision = fundedLedger(1_000).decide(jobCommand({ kind: 'face_swap', item_count: 1, clip: null }));
    expect(decision).toMatchObject({
      jobRequested: { first_clip_id: null },
      answer: { first_clip_id: null },
    });
  });
});

describe('settling a charge', () => {
  test('gives a failed item back, once, under an id that follows from the debit', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    const refund = ledger.decide(settle(debitId, jobId, 1, 'failed'));
    expect(eventNames(refund)).toEqual(['WalletRefunded']);
    expect(refund).toMatchObject({ answer: { event_id: settlementEventId(debitId, 1), amount_cents: 150 } });
    expect(eventNames(ledger.decide(settle(debitId, jobId, 1, 'failed')))).toEqual([]);
    expect(balanceCents(ledger)).toBe(850);
  });

  test('never gives back what was delivered, nor takes back a refund', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    expect(eventNames(ledger.decide(settle(debitId, jobId, 0, 'completed')))).toEqual(['ChargeCaptured']);
    expect(eventNames(ledger.decide(settle(debitId, jobId, 0, 'failed')))).toEqual([]);
    ledger.decide(settle(debitId, jobId, 1, 'failed'));
    expect(eventNames(ledger.decide(settle(debitId, jobId, 1, 'completed')))).toEqual([]);
    expect(balanceCents(ledger)).toBe(850);
  });

  test('gives back the whole charge at most', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    for (const item of [0, 1, 0, 1]) ledger.decide(settle(debitId, jobId, item, 'failed'));
    expect(balanceCents(ledger)).toBe(1_000);
    expect(refusal(ledger.decide(settle(debitId, jobId, 2, 'failed')))).toBe('InvalidCommand');
    expect(refusal(ledger.decide(settle(debitId, jobId, -1, 'failed')))).toBe('InvalidCommand');
  });

  test('keeps the money where failed items are waived', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    expect(eventNames(ledger.decide(settle(debitId, jobId, 0, 'waived')))).toEqual(['ChargeCaptured']);
    expect(balanceCents(ledger)).toBe(700);
  });

  test('works with inactive billing, because it is owed', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    ledger.decide(command('DeactivateBilling', {}));
    expect(eventNames(ledger.decide(settle(debitId, jobId, 0, 'failed')))).toEqual(['WalletRefunded']);
  });

  test('of an unknown charge, another job or with an unknown outcome is refused', () => {
    const { ledger, debitId, jobId } = chargedLedger();
    expect(refusal(ledger.decide(settle(jobId, jobId, 0, 'failed')))).toBe('ChargeNotFound');
    expect(refusal(ledger.decide(settle(debitId, debitId, 0, 'failed')))).toBe('ChargeNotFound');
    expect(refusal(ledger.decide(settle(debitId, jobId, 0, 'maybe')))).toBe('InvalidCommand');
  });
});

describe('API keys', () => {
  const keyId = '00000000-0000-4000-b000-000000000001';
  const createKey = () =>
    command('CreateApiKey', {
      key_id: keyId,
      name: 'production',
      prefix: 'cl_abcde',
      key_hash: Buffer.alloc(32, 1),
      expires_at: null,
    });

  test('are made once and revoked once, for good', () => {
    const ledger = fundedLedger(0);
    expect(eventNames(ledger.decide(createKey()))).toEqual(['ApiKeyCreated']);
    expect(refusal(ledger.decide(createKey()))).toBe('ApiKeyExists');
    expect(eventNames(ledger.decide(command('RevokeApiKey', { key_id: keyId })))).toEqual(['ApiKeyRevoked']);
    expect(eventNames(ledger.decide(command('RevokeApiKey', { key_id: keyId })))).toEqual([]);
    expect(refusal(ledger.decide(createKey()))).toBe('ApiKeyExists');
  });

  test('that are revoked can neither pay nor make other keys, also where rows still say otherwise', () => {
    const ledger = fundedLedger(1_000);
    ledger.decide(createKey());
    const actor = `key:${keyId}`;
    expect(ledger.decide(jobCommand({ actor })).outcome).toBe('accepted');
    ledger.decide(command('RevokeApiKey', { key_id: keyId }));
    expect(refusal(ledger.decide(jobCommand({ actor })))).toBe('ApiKeyRevoked');
    const another = createKey();
    const byRevoked = { name: another.name, value: { ...another.value, actor } } as typeof another;
    expect(refusal(ledger.decide(byRevoked))).toBe('ApiKeyRevoked');
    expect(balanceCents(ledger)).toBe(700);
  });

  test('that the team does not have cannot be revoked', () => {
    expect(refusal(fundedLedger(0).decide(command('RevokeApiKey', { key_id: keyId })))).toBe(
      'ApiKeyNotFound',
    );
  });
});

test('whatever is asked in whatever order, no wallet goes negative and the money adds up', () => {
  let random = 20_261_121;
  const next = (bound: number): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return (random >>> 8) % bound;
  };
  const ledger = fundedLedger(500);
  const debits: { debitId: string; jobId: string }[] = [];
  for (let step = 0; step < 3_000; step++) {
    const choice = next(10);
    if (choice === 0)
      ledger.decide(command('TopUpWallet', { amount_cents: 500, reference: `pay_${next(50)}` }));
    if (choice >= 1 && choice <= 5) {
      const decision = ledger.decide(jobCommand({ item_count: 1 + next(4) }));
      const answer = decision.outcome === 'accepted' ? decision.answer : {};
      if (answer.debit_id && answer.job_id) debits.push({ debitId: answer.debit_id, jobId: answer.job_id });
    }
    const debit = debits[next(debits.length || 1)];
    const outcome = ['completed', 'failed', 'waived'][next(3)] ?? 'failed';
    if (choice > 5 && debit) ledger.decide(settle(debit.debitId, debit.jobId, next(5), outcome));
    const wallet = ledger.wallet();
    if (wallet.status !== 'open') throw new Error('The wallet is gone.');
    const sum = wallet.toppedUpCents - wallet.debitedCents + wallet.refundedCents;
    expect(wallet.balanceCents).toBe(sum);
    expect(wallet.balanceCents).toBeGreaterThanOrEqual(0);
    expect(wallet.capturedCents + wallet.refundedCents).toBeLessThanOrEqual(wallet.debitedCents);
  }
  expect(debits.length).toBeGreaterThan(20);
});
