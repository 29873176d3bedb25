import type { ReadRecord } from '#infra/kafka/record.ts';
import { genesisHash, isSealIntact } from '#schemas/chain.ts';
import type { FaultKind } from './fault.ts';

export type Broken = Readonly<{ kind: FaultKind; problem: string }>;

/** The part of a chained event that holds the chain together. */
export type Link = Readonly<{ seq: number; prev_hash: Buffer; hash: Buffer }>;

/** One team's chain in one topic, checked event by event. */
export class TeamChain {
  seq = 0;
  hash: Buffer = genesisHash;

  /** What is wrong with the record as the next of the chain; when nothing is, the chain goes on from it. */
  accept(record: ReadRecord, link: Link): Broken | undefined {
    if (!isSealIntact(record.value))
      return {
        kind: 'altered',
        problem: 'its bytes are not those of its hash: it was changed after sealing.',
      };
    const due = this.seq + 1;
    if (link.seq > due)
      return {
        kind: 'gap',
        problem: `it has seq ${link.seq} where ${due} is due: events are missing or moved.`,
      };
    if (link.seq < due)
      return { kind: 'repeated', problem: `it has seq ${link.seq}, which came before; ${due} is due.` };
    if (!link.prev_hash.equals(this.hash))
      return {
        kind: 'unchained',
        problem: `its prev_hash is not the hash of seq ${this.seq}: that event or this one was replaced.`,
      };
    this.seq = link.seq;
    this.hash = link.hash;
    return undefined;
  }
}
