/** One way to charge a wallet for a job. */
export type Contender = Readonly<{
  name: string;
  /** Charges one item to the team's wallet and requests its job, both or neither; durable when it resolves. */
  debit: (teamId: number) => Promise<void>;
  /** How long it works before it is as fast as it stays. */
  warmUpSeconds: number;
  close: () => Promise<void>;
}>;

export const ITEM_CENTS = 150;
/** Enough for any run. */
export const RICH_CENTS = 900_000_000_000;
