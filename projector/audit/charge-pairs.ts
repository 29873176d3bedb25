import type { RecordTypes } from '#schemas/records.ts';
import { type EventPlace, type Fault, faultAt } from './fault.ts';

type Debit = RecordTypes['WalletDebited'];
type Request = RecordTypes['JobRequested'];
type Half = Readonly<{ place: EventPlace; teamId: number; terms: string }> & {
  readonly side: 'debit' | 'job';
};

/**
 * Each charge has its job and each job its charge: both are written in one transaction, but to two topics, so
 * either can be read first. What has met its other half is forgotten.
 */
export class ChargePairs {
  readonly #halves = new Map<string, Half>();

  acceptDebit(place: EventPlace, debit: Debit): Fault | undefined {
    return this.#meet(debit.event_id, { side: 'debit', place, teamId: debit.team_id, terms: termsOf(debit) });
  }

  acceptRequest(place: EventPlace, request: Request): Fault | undefined {
    const half: Half = { side: 'job', place, teamId: request.team_id, terms: termsOf(request) };
    return this.#meet(request.debit_id, half);
  }

  /** The debit ids that have one half only. */
  get unpaired(): readonly string[] {
    return [...this.#halves.keys()];
  }

  /** The faults of those of `debitIds` that still have one half only, in the order in which they were read. */
  faults(debitIds: readonly string[]): readonly Fault[] {
    return debitIds.flatMap((debitId) => {
      const half = this.#halves.get(debitId);
      return half === undefined ? [] : [aloneFault(debitId, half)];
    });
  }

  #meet(debitId: string, half: Half): Fault | undefined {
    const other = this.#halves.get(debitId);
    if (other === undefined) {
      this.#halves.set(debitId, half);
      return undefined;
    }
    if (other.side === half.side) return aloneFault(debitId, half);
    this.#halves.delete(debitId);
    if (other.terms === half.terms) return undefined;
    const problem = `the charge ${debitId} and its job do not agree: ${half.terms} here, ${other.terms} there.`;
    return faultAt(half.place, 'unpaired', half.teamId, problem);
  }
}

const termsOf = (half: Debit | Request): string =>
  `team ${half.team_id}, job ${half.job_id}, ${half.kind}, ${half.item_count} x ${half.item_cents} cents, ` +
  `clips from ${half.first_clip_id} by ${half.clip_id_step}`;

function aloneFault(debitId: string, { side, place, teamId }: Half): Fault {
  const problem =
    side === 'debit'
      ? 'it charges for a job that was never requested.'
      : `it requests a job whose charge ${debitId} is not in the log, or paid for another request.`;
  return faultAt(place, 'unpaired', teamId, problem);
}
