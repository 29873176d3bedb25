import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '#api/ledger/decision.ts';
import { type LedgerClient, LedgerUnavailable } from '#api/ledger/ledger-client.ts';
import type { CommandReply } from '#schemas/records.ts';

/** What was asked and every answer that came to it. */
export type Asked = Readonly<{ command: Command; replies: CommandReply[] }>;

const ITEM_CENTS = 150;
const DEADLINE_MS = 5_000;
const JOB_DEADLINE_MS = 3_600_000;

/** Keeps asking the ledger for what clients ask for, as clients do: what was not answered is asked again. */
export class CommandSource {
  readonly asked = new Map<string, Asked>();
  readonly #client: Pick<LedgerClient, 'submit'>;
  readonly #random: () => number;
  readonly #teamIds: readonly number[];

  constructor(client: Pick<LedgerClient, 'submit'>, teamIds: readonly number[], random: () => number) {
    this.#client = client;
    this.#teamIds = teamIds;
    this.#random = random;
  }

  /** Opens the teams, with money for some of the jobs to come. */
  async openTeams(): Promise<void> {
    await Promise.all(
      this.#teamIds.map(async (teamId) => {
        await this.ask({ name: 'CreateTeam', value: { ...this.#envelope(teamId), name: `team ${teamId}` } });
        await this.ask({ name: 'ActivateBilling', value: this.#envelope(teamId) });
        await this.#topUp(teamId);
      }),
    );
  }

  /** Asks with so many commands in flight until `signal` aborts, and until all of those are answered. */
  async run(inFlight: number, signal: AbortSignal): Promise<void> {
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (!signal.aborted) await this.#askSomething();
      }),
    );
  }

  /** Asks until it is answered, with the same command id and a new deadline each time. */
  async ask(command: Command): Promise<CommandReply> {
    const asked = this.asked.get(command.value.command_id) ?? { command, replies: [] };
    this.asked.set(command.value.command_id, asked);
    for (;;) {
      const issuedAt = Date.now();
      const value = { ...command.value, issued_at: issuedAt, deadline_at: issuedAt + DEADLINE_MS };
      try {
        const reply = await this.#client.submit({ ...command, value } as Command);
        asked.replies.push(reply);
        if (reply.refusal !== 'DeadlinePassed') return reply;
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        await delay(20);
      }
    }
  }

  async #askSomething(): Promise<void> {
    const teamId = this.#teamIds[Math.floor(this.#random() * this.#teamIds.length)] ?? 1;
    if (this.#random() < 0.05) {
      await this.#topUp(teamId);
      return;
    }
    const reply = await this.#requestJob(teamId);
    if (reply.outcome === 'accepted' && this.#random() < 0.5) await this.#settle(reply);
  }

  #requestJob(teamId: number): Promise<CommandReply> {
    return this.ask({
      name: 'RequestJob',
      value: {
        ...this.#envelope(teamId),
        job_id: randomUUID(),
        kind: 'clip',
        item_count: 1 + Math.floor(this.#random() * 3),
        item_cents: ITEM_CENTS,
        request_hash: 'of no matter here',
        job_deadline_at: Date.now() + JOB_DEADLINE_MS,
        clip: null,
        face_swap: null,
        callback_url: null,
      },
    });
  }

  async #topUp(teamId: number): Promise<void> {
    const amountCents = 500 + Math.floor(this.#random() * 2_000);
    const value = { ...this.#envelope(teamId), amount_cents: amountCents, reference: randomUUID() };
    await this.ask({ name: 'TopUpWallet', value });
  }

  async #settle({ team_id: teamId, debit_id, job_id }: CommandReply): Promise<void> {
    const value = {
      ...this.#envelope(teamId),
      debit_id: debit_id ?? '',
      job_id: job_id ?? '',
      item: 0,
      outcome: this.#random() < 0.5 ? 'failed' : 'completed',
      reason: 'as the test wants it',
      cause_event_id: randomUUID(),
    };
    await this.ask({ name: 'SettleChargeItem', value });
  }

  #envelope(teamId: number) {
    return { command_id: randomUUID(), team_id: teamId, issued_at: 0, deadline_at: 0, actor: 'system:test' };
  }
}
