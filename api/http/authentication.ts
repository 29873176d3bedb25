import { hashApiKey, isWellFormedApiKey } from '../api-key.ts';
import type { KeyHolder } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import type { RateLimitStanding } from './rate-limit.ts';

/** Who makes a request, by the key it came with. */
export type Principal = Readonly<{
  keyId: string;
  keyName: string;
  teamId: number;
  keyExpiresAt: Date | null;
}>;

/** What the chain looks at of a request. */
export type Credentials = Readonly<{
  apiKey: string | undefined;
  /** GET and HEAD. */
  isRead: boolean;
  address: string;
}>;

export type AuthenticationPorts = Readonly<{
  findKeyHolder: (keyHash: Buffer) => Promise<KeyHolder | undefined>;
  countRequest: (keyId: string) => Promise<RateLimitStanding>;
  /** False when the read model is known to be behind what the log holds of the team, or of all teams. */
  isCurrent: (teamId: number | undefined) => Promise<boolean>;
  failures: FailedAuthentications;
  now: () => Date;
  zeroBalanceReads: 'allow' | 'deny';
}>;

export type Admission =
  | Readonly<{ principal: Principal; standing: RateLimitStanding }>
  | Readonly<{ refused: Answer; standing?: RateLimitStanding }>;

/** The checks of every `/v1` request in their order; the first that fails is the answer. */
export async function authenticate(credentials: Credentials, ports: AuthenticationPorts): Promise<Admission> {
  const { apiKey, address } = credentials;
  if (apiKey === undefined || apiKey === '') return { refused: answers.missingKey };
  if (!isWellFormedApiKey(apiKey)) return { refused: answers.invalidKey };
  const keyHash = hashApiKey(apiKey);
  const waitSeconds = ports.failures.waitSeconds(address, keyHash);
  if (waitSeconds > 0) return { refused: answers.tooManyFailedKeys(waitSeconds) };

  const holder = await ports.findKeyHolder(keyHash);
  const refusedKey = refusedByKey(holder, ports.now());
  if (holder === undefined || refusedKey !== undefined) {
    ports.failures.failed(address);
    return { refused: await unlessBehind(ports, holder, refusedKey ?? answers.invalidKey) };
  }
  ports.failures.worked(keyHash);

  const refusedBilling = refusedByBilling(holder, credentials, ports.zeroBalanceReads);
  if (refusedBilling !== undefined) return { refused: await unlessBehind(ports, holder, refusedBilling) };

  const standing = await ports.countRequest(holder.keyId);
  if (standing.isExceeded) return { refused: answers.rateLimited(standing.resetSeconds), standing };
  return { principal: principalOf(holder), standing };
}

function refusedByKey(holder: KeyHolder | undefined, now: Date): Answer | undefined {
  if (holder === undefined || holder.revokedAt !== null) return answers.invalidKey;
  if (holder.expiresAt !== null && holder.expiresAt.getTime() <= now.getTime()) return answers.expiredKey;
  return undefined;
}

function refusedByBilling(
  holder: KeyHolder,
  { isRead }: Credentials,
  zeroBalanceReads: AuthenticationPorts['zeroBalanceReads'],
): Answer | undefined {
  if (!holder.billingActive) return answers.billingNotActive;
  if (holder.balanceCents <= 0 && !(isRead && zeroBalanceReads === 'allow')) return answers.zeroBalance;
  return undefined;
}

/**
 * While the read model is being rebuilt it lacks keys and money that exist. A refusal that says so to a
 * paying client would be wrong, so it becomes a 503. Revocation and expiry can only be true.
 */
async function unlessBehind(
  ports: AuthenticationPorts,
  holder: KeyHolder | undefined,
  refusal: Answer,
): Promise<Answer> {
  const isFinal = refusal === answers.expiredKey || (holder !== undefined && holder.revokedAt !== null);
  if (isFinal || (await ports.isCurrent(holder?.teamId))) return refusal;
  return answers.catchingUp;
}

const principalOf = (holder: KeyHolder): Principal => ({
  keyId: holder.keyId,
  keyName: holder.keyName,
  teamId: holder.teamId,
  keyExpiresAt: holder.expiresAt,
});
