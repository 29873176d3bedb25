import { randomUUID } from 'node:crypto';

/** How long the ledger may take to get to a command; what comes later is refused there and charges nothing. */
export const COMMAND_DEADLINE_MS = 5_000;

/** The fields that every command begins with. Without `commandId` the command is one of its own. */
export const commandEnvelope = (command: {
  readonly teamId: number;
  readonly actor: string;
  readonly now: Date;
  readonly commandId?: string;
}) => ({
  command_id: command.commandId ?? randomUUID(),
  team_id: command.teamId,
  issued_at: command.now.getTime(),
  deadline_at: command.now.getTime() + COMMAND_DEADLINE_MS,
  actor: command.actor,
});
