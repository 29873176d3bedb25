import type pg from 'pg';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { Named } from '#schemas/codec.ts';
import type { TeamRecords } from '#schemas/records.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import { optionalText, text, timestamp } from '../column-values.ts';
import { type DebitClips, type TransactionRow, transactionRow } from '../wallet/wallet-rows.ts';
import {
  countTransactions,
  describeTransaction,
  describeWallet,
  readClipRows,
  readJobIds,
  readJobRows,
  readSwapRows,
  readTeamRows,
  readTransactionRows,
  readWalletRows,
} from './audit-statements.ts';
import { type EventPlace, type Fault, faultAt } from './fault.ts';
import {
  describeClip,
  describeSwap,
  type ExpectedJob,
  expectedItems,
  expectedStatus,
  JobExpectations,
} from './job-expectations.ts';
import type { AuditedTeam, LogVerifier, VerifiedRecord } from './log-verifier.ts';
import type { Offsets } from './read-merged.ts';

const JOBS_AT_ONCE = 1_000;

/**
 * Compares the rows in Postgres with the log: transactions while it is read, everything else once it has been
 * read up to the recorded positions. Teams of which the log itself is wrong are left out.
 */
export class RowAudit {
  readonly faults: Fault[] = [];
  readonly #client: pg.ClientBase;
  readonly #verifier: LogVerifier;
  readonly #jobs = new JobExpectations();
  readonly #teamLines = new Map<string, Readonly<{ line: string; place: EventPlace }>>();
  readonly #debits = new Map<string, DebitClips>();
  #transactions: Readonly<{ place: EventPlace; row: TransactionRow }>[] = [];

  constructor(client: pg.ClientBase, verifier: LogVerifier) {
    this.#client = client;
    this.#verifier = verifier;
  }

  /** Takes what the verifier found right. */
  accept(place: EventPlace, verified: VerifiedRecord): void {
    switch (verified.of) {
      case 'wallet':
        this.#acceptWalletEvent(place, verified.event, verified.team);
        break;
      case 'team':
        this.#acceptTeamEvent(place, verified.event);
        break;
      case 'other':
        this.#jobs.acceptJobEvent(place, verified.event);
        break;
    }
  }

  /** Compares the transactions that were taken since the last time. */
  async compareTransactions(): Promise<void> {
    const expected = this.#transactions;
    this.#transactions = [];
    if (expected.length === 0) return;
    const rows = await readTransactionRows(
      this.#client,
      expected.map(({ row }) => row),
    );
    for (const { place, row } of expected) {
      const found = rows.get(`${row.teamId}/${row.seq}`);
      const due = describeTransaction(columnsOfRow(row));
      if (found !== due) this.#differs(place, row.teamId, `wallet_transactions, seq ${row.seq}`, due, found);
    }
  }

  /** Compares everything else, when the log has been read up to the positions of these rows. */
  async compareStates(positions: Offsets, partitionCount: number): Promise<void> {
    await this.compareTransactions();
    await this.#compareWallets(positions, partitionCount);
    await this.#compareTeams();
    await this.#compareJobs();
  }

  #acceptWalletEvent(place: EventPlace, event: WalletEvent, team: AuditedTeam): void {
    const { wallet } = team.replay;
    if (wallet.status === 'unopened') return;
    if (event.name === 'WalletDebited')
      this.#debits.set(event.value.event_id, {
        firstClipId: event.value.first_clip_id,
        clipIdStep: event.value.clip_id_step,
      });
    this.#transactions.push({ place, row: transactionRow(event, wallet, this.#debits) });
    this.#jobs.acceptWalletEvent(event);
    if ('debit_id' in event.value && this.#verifier.openCharge(event.value.debit_id) === undefined)
      this.#debits.delete(event.value.debit_id);
  }

  #acceptTeamEvent(place: EventPlace, event: Named<TeamRecords>): void {
    const { value } = event;
    if (event.name === 'TeamCreated') {
      this.#teamLines.set(`team/${value.team_id}`, { line: text(event.value.name), place });
    } else if (event.name === 'ApiKeyCreated') {
      const line = `team ${value.team_id}, hash ${event.value.key_hash.toString('hex')}`;
      this.#teamLines.set(`key/${event.value.key_id}`, { line, place });
    } else if (event.name === 'ApiKeyRevoked') {
      const id = `key/${event.value.key_id}`;
      const known = this.#teamLines.get(id);
      if (known !== undefined && !known.line.endsWith(', revoked'))
        this.#teamLines.set(id, { line: `${known.line}, revoked`, place });
    }
  }

  async #compareWallets(positions: Offsets, partitionCount: number): Promise<void> {
    const rows = await readWalletRows(this.#client);
    const counts = await countTransactions(this.#client);
    const teamIds = new Set([...rows.keys(), ...counts.keys(), ...this.#verifier.teams.keys()]);
    for (const teamId of teamIds) {
      const team = this.#verifier.teams.get(teamId);
      if (team?.isBroken === true) continue;
      const wallet = team?.replay.wallet;
      const due = wallet?.status === 'open' ? describeWallet(wallet) : undefined;
      const place = team?.lastPlace ?? placeOfNothing(teamId, positions, partitionCount);
      this.#compare(place, teamId, 'wallets', due, rows.get(teamId));
      const dueCount = team?.walletChain.seq ?? 0;
      const count = counts.get(teamId) ?? 0;
      if (count > dueCount)
        this.#compare(place, teamId, 'wallet_transactions', `${dueCount} rows`, `${count} rows`);
    }
  }

  async #compareTeams(): Promise<void> {
    const rows = await readTeamRows(this.#client);
    for (const [id, { line, place }] of this.#teamLines) this.#compare(place, null, id, line, rows.get(id));
    for (const [id, line] of rows)
      if (!this.#teamLines.has(id) && !this.#mayBeBroken(id)) {
        const place = { topic: 'team.events', partition: 0, offset: 0, eventId: null };
        this.#compare(place, null, id, undefined, line);
      }
  }

  /** Keys do not say their team here: while any team's log is wrong, extra ones are not held against the rows. */
  #mayBeBroken(id: string): boolean {
    if (id.startsWith('team/')) return this.#verifier.teams.get(Number(id.slice(5)))?.isBroken === true;
    return [...this.#verifier.teams.values()].some(({ isBroken }) => isBroken);
  }

  async #compareJobs(): Promise<void> {
    const jobs = this.#jobs.requested.filter(
      ([, job]) => this.#verifier.teams.get(job.teamId)?.isBroken !== true,
    );
    for (let start = 0; start < jobs.length; start += JOBS_AT_ONCE) {
      const some = jobs.slice(start, start + JOBS_AT_ONCE);
      const ids = some.map(([jobId]) => jobId);
      const rows = await readJobRows(this.#client, ids);
      const items = await this.#itemLines(ids);
      for (const [jobId, job] of some) {
        const row = rows.get(jobId);
        const found = row && describeJob({ ...row, items: items.get(jobId) ?? [] });
        if (job.place !== undefined)
          this.#compare(job.place, job.teamId, `job ${jobId}`, expectedJobLine(job), found);
      }
    }
    for (const jobId of await readJobIds(this.#client)) {
      if (this.#jobs.isRequested(jobId)) continue;
      const place = { topic: 'job.events', partition: 0, offset: 0, eventId: null };
      this.#compare(place, null, `job ${jobId}`, undefined, 'a row');
    }
  }

  /** One line for each clip and swap of these jobs, by job. */
  async #itemLines(jobIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const lines = new Map<string, string[]>();
    const add = (jobId: string, line: string) => lines.set(jobId, [...(lines.get(jobId) ?? []), line]);
    for (const clip of await readClipRows(this.#client, jobIds)) add(clip.jobId, describeClip(clip));
    for (const swap of await readSwapRows(this.#client, jobIds)) add(swap.jobId, describeSwap(swap));
    return lines;
  }

  #compare(
    place: EventPlace,
    teamId: number | null,
    what: string,
    due: string | undefined,
    found: string | undefined,
  ): void {
    if (due !== found) this.#differs(place, teamId, what, due, found);
  }

  #differs(
    place: EventPlace,
    teamId: number | null,
    what: string,
    due: string | undefined,
    found: string | undefined,
  ): void {
    const ofTeam = teamId === null ? '' : ` of team ${teamId}`;
    const problem =
      due === undefined
        ? `Postgres has ${what}${ofTeam}, of which nothing is in the log: ${found}.`
        : `the row in Postgres (${what}${ofTeam}) is ${found ?? 'missing'}; the log gives ${due}.`;
    this.faults.push(faultAt(place, 'row', teamId, problem));
  }
}

const describeJob = (job: {
  readonly teamId: number;
  readonly debitId: string;
  readonly itemCount: number;
  readonly costCents: number;
  readonly status: string;
  readonly items: readonly string[];
}): string =>
  `team ${job.teamId}, ${job.status}, ${job.itemCount} items for ${job.costCents} cents by ${job.debitId}: ` +
  job.items.join('; ');

const expectedJobLine = (job: ExpectedJob): string =>
  describeJob({ ...job, status: expectedStatus(job), items: expectedItems(job) });

/** Where events of a team would be that the log knows nothing of. */
function placeOfNothing(teamId: number, positions: Offsets, partitionCount: number): EventPlace {
  const partition = partitionOf(String(teamId), partitionCount);
  const offset = positions.get(`wallet.events/${partition}`) ?? 0;
  return { topic: 'wallet.events', partition, offset, eventId: null };
}

function columnsOfRow(row: TransactionRow) {
  return {
    team_id: row.teamId,
    seq: row.seq,
    event_id: row.eventId,
    type: row.type,
    amount_cents: row.amountCents,
    balance_after_cents: row.balanceAfterCents,
    job_id: row.jobId,
    clip_id: row.clipId,
    debit_id: row.debitId,
    item: row.item,
    item_count: row.itemCount,
    clip_id_step: row.clipIdStep,
    reference: optionalText(row.reference),
    reason: optionalText(row.reason),
    actor: text(row.actor),
    occurred_at: new Date(timestamp(row.occurredAtMs)),
  };
}
