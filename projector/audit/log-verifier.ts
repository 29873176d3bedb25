import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { type Charge, isSettled } from '#schemas/charge.ts';
import { type AnyRecord, decodeRecord, type Named } from '#schemas/codec.ts';
import { recordNames, type TeamRecords } from '#schemas/records.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import { ChargePairs } from './charge-pairs.ts';
import { type EventPlace, type Fault, faultAt, placeOf } from './fault.ts';
import { type Broken, TeamChain } from './team-chain.ts';
import { chargeAfter, ReplayedWallet } from './wallet-rules.ts';

/** All that a replay knows of a team. */
export type AuditedTeam = {
  readonly teamId: number;
  readonly walletChain: TeamChain;
  readonly teamChain: TeamChain;
  readonly replay: ReplayedWallet;
  /** The newest wallet event. */
  lastPlace: EventPlace | undefined;
  /** Something was wrong: what comes after it in the log says nothing more. */
  isBroken: boolean;
};

/** What a record was found to be, for whoever goes on with it; undefined for a record with a fault. */
export type VerifiedRecord =
  | Readonly<{ of: 'wallet'; event: WalletEvent; team: AuditedTeam; charge: Charge | undefined }>
  | Readonly<{ of: 'team'; event: Named<TeamRecords> }>
  | Readonly<{ of: 'other'; event: AnyRecord }>;

/** A new owner of a partition writes its election to both of the partition's topics that it reads. */
const teamNames: ReadonlySet<string> = new Set([...recordNames.team, 'LedgerOwnerElected']);
const walletNames: ReadonlySet<string> = new Set(recordNames.wallet);
const jobNames: ReadonlySet<string> = new Set([
  'JobRequested',
  'ClipCompleted',
  'ClipFailed',
  'SwapCompleted',
  'SwapFailed',
]);
const allowedNames: Readonly<Record<string, ReadonlySet<string>>> = {
  'team.events': teamNames,
  'wallet.events': walletNames,
  'job.events': jobNames,
};

/**
 * Checks committed records of `wallet.events`, `team.events` and `job.events` in the order of each partition,
 * whatever the order among them: seals, chains, balances, charges, and that charges and jobs belong
 * together. Pure: no I/O. After a team's first fault its later events are passed over. It holds in memory
 * each team, each open charge, and each charge or job of which the other half has not been read yet.
 */
export class LogVerifier {
  /** The first fault of each team, and those of no team, in the order found. */
  readonly faults: Fault[] = [];
  readonly teams = new Map<number, AuditedTeam>();
  readonly pairs = new ChargePairs();
  eventCount = 0;
  readonly #openCharges = new Map<string, Charge>();
  readonly #partitionCount: number | undefined;

  /** With the count of the partitions of the topics keyed by team, each event's partition is checked too. */
  constructor(options: { readonly partitionCount?: number } = {}) {
    this.#partitionCount = options.partitionCount;
  }

  /** Checks the next record of its partition. */
  accept(record: ReadRecord): VerifiedRecord | undefined {
    this.eventCount += 1;
    const event = this.#decode(record);
    if (event === undefined) return undefined;
    if (allowedNames[record.topic]?.has(event.name) === false)
      return this.#fault(record, null, {
        kind: 'misplaced',
        problem: `a ${event.name} does not belong here.`,
      });
    switch (event.name) {
      case 'WalletOpened':
      case 'BillingActivated':
      case 'BillingDeactivated':
      case 'WalletToppedUp':
      case 'WalletDebited':
      case 'WalletRefunded':
      case 'ChargeCaptured':
        return this.#acceptWalletEvent(record, event);
      case 'TeamCreated':
      case 'ApiKeyCreated':
      case 'ApiKeyRevoked':
      case 'WebhookSecretRotated':
        return this.#acceptTeamEvent(record, event);
      case 'JobRequested':
        this.#report(this.pairs.acceptRequest(placeOf(record, event.value.event_id), event.value));
        return { of: 'other', event };
      default:
        return { of: 'other', event };
    }
  }

  /** The charge that was debited under this id, while something of it is open. */
  openCharge(debitId: string): Charge | undefined {
    return this.#openCharges.get(debitId);
  }

  #decode(record: ReadRecord): AnyRecord | undefined {
    try {
      return decodeRecord(record.value);
    } catch (error) {
      const problem = `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      this.#fault(record, null, { kind: 'unreadable', problem });
      return undefined;
    }
  }

  #acceptWalletEvent(record: ReadRecord, event: WalletEvent): VerifiedRecord | undefined {
    const team = this.#team(event.value.team_id);
    if (team.isBroken) return undefined;
    const charge = this.#namedCharge(event);
    const broken =
      this.#placeProblem(record, team.teamId) ??
      team.walletChain.accept(record, event.value) ??
      team.replay.accept(event, charge);
    if (broken !== undefined) return this.#fault(record, event.value, broken);
    team.lastPlace = placeOf(record, event.value.event_id);
    this.#keepCharge(chargeAfter(charge, event));
    if (event.name === 'WalletDebited') this.#report(this.pairs.acceptDebit(team.lastPlace, event.value));
    return { of: 'wallet', event, team, charge };
  }

  #acceptTeamEvent(record: ReadRecord, event: Named<TeamRecords>): VerifiedRecord | undefined {
    const team = this.#team(event.value.team_id);
    if (team.isBroken) return undefined;
    const broken = this.#placeProblem(record, team.teamId) ?? team.teamChain.accept(record, event.value);
    if (broken !== undefined) return this.#fault(record, event.value, broken);
    return { of: 'team', event };
  }

  #placeProblem(record: ReadRecord, teamId: number): Broken | undefined {
    if (record.key !== String(teamId))
      return {
        kind: 'misplaced',
        problem: `its key is ${JSON.stringify(record.key)}, its team is ${teamId}.`,
      };
    const count = this.#partitionCount;
    if (count === undefined) return undefined;
    const due = partitionOf(record.key, count);
    return due === record.partition
      ? undefined
      : { kind: 'misplaced', problem: `team ${teamId} belongs to partition ${due}.` };
  }

  #namedCharge(event: WalletEvent): Charge | undefined {
    return 'debit_id' in event.value ? this.#openCharges.get(event.value.debit_id) : undefined;
  }

  #keepCharge(charge: Charge | undefined): void {
    if (charge === undefined) return;
    if (isSettled(charge)) this.#openCharges.delete(charge.debitId);
    else this.#openCharges.set(charge.debitId, charge);
  }

  #team(teamId: number): AuditedTeam {
    const known = this.teams.get(teamId);
    if (known !== undefined) return known;
    const team: AuditedTeam = {
      teamId,
      walletChain: new TeamChain(),
      teamChain: new TeamChain(),
      replay: new ReplayedWallet(),
      lastPlace: undefined,
      isBroken: false,
    };
    this.teams.set(teamId, team);
    return team;
  }

  #fault(
    record: ReadRecord,
    event: { readonly event_id: string; readonly team_id: number } | null,
    { kind, problem }: Broken,
  ): undefined {
    if (event !== null) this.#team(event.team_id).isBroken = true;
    this.faults.push(
      faultAt(placeOf(record, event?.event_id ?? null), kind, event?.team_id ?? null, problem),
    );
  }

  #report(fault: Fault | undefined): void {
    if (fault !== undefined) this.faults.push(fault);
  }
}
