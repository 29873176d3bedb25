import { hashApiKey, isWellFormedApiKey } from '../api-key.ts';
import type { KeyHolder } from '../read-keys.ts';
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
  /** True while the rows of before a rebuild are not all there again. */
  isRebuilding: () => boolean;
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

  if (ports.isRebuilding()) return { refused: answers.catchingUp };
  const found = await findHolder(keyHash, credentials, ports);
  if ('refused' in found) {
    if (found.refused.status === answers.invalidKey.status) ports.failures.failed(address);
    return found;
  }
  ports.failures.worked(keyHash);
  const standing = await ports.countRequest(found.holder.keyId);
  if (standing.isExceeded) return { refused: answers.rateLimited(standing.resetSeconds), standing };
  return { principal: principalOf(found.holder), standing };
}

type Found = Readonly<{ holder: KeyHolder }> | Readonly<{ refused: Answer }>;

/**
 * Who holds the key, or why it is refused. Rows that are behind the log lack keys and money that exist, and
 * telling a paying client so would be wrong: before such a refusal the rows are looked at once more when they
 * hold what the log held, and while they do not, the answer is a 503.
 */
async function findHolder(
  keyHash: Buffer,
  credentials: Credentials,
  ports: AuthenticationPorts,
): Promise<Found> {
  const caughtUp = new Set<'keys' | 'wallet'>();
  for (;;) {
    const holder = await ports.findKeyHolder(keyHash);
    const refused =
      refusedByKey(holder, ports.now()) ?? refusedByBilling(holder, credentials, ports.zeroBalanceReads);
    if (refused === undefined && holder !== undefined) return { holder };
    const lacking = holder === undefined ? 'keys' : 'wallet';
    // A key that was revoked or has expired stays so, whatever the log holds besides.
    const isFinal = caughtUp.has(lacking) || refused === answers.expiredKey || holder?.revokedAt != null;
    if (isFinal) return { refused: refused ?? answers.invalidKey };
    if (!(await ports.isCurrent(holder?.teamId))) return { refused: answers.catchingUp };
    caughtUp.add(lacking);
  }
}

function refusedByKey(holder: KeyHolder | undefined, now: Date): Answer | undefined {
  if (holder === undefined || holder.revokedAt !== null) return answers.invalidKey;
  if (holder.expiresAt !== null && holder.expiresAt.getTime() <= now.getTime()) return answers.expiredKey;
  return undefined;
}

function refusedByBilling(
  holder: KeyHolder | undefined,
  { isRead }: Credentials,
  zeroBalanceReads: AuthenticationPorts['zeroBalanceReads'],
): Answer | undefined {
  if (holder === undefined) return undefined;
  if (!holder.billingActive) return answers.billingNotActive;
  if (holder.balanceCents <= 0 && !(isRead && zeroBalanceReads === 'allow')) return answers.zeroBalance;
  return undefined;
}

const principalOf = (holder: KeyHolder): Principal => ({
  keyId: holder.keyId,
  keyName: holder.keyName,
  teamId: holder.teamId,
  keyExpiresAt: holder.expiresAt,
});
