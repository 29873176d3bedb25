/**
 * Why the egress proxy did not pass something on. The client sees the status and the code in the header
 * `x-egress-refusal`; whoever opened the session reads the codes back from it.
 */
export const proxyRefusals = {
  BAD_REQUEST: { status: 400, reason: 'the request is not one that a forward proxy answers' },
  UNAUTHENTICATED: { status: 407, reason: 'the credential of an open session is missing' },
  FORBIDDEN: { status: 403, reason: 'the target is not on the public internet' },
  NOT_FOUND: { status: 502, reason: 'the host does not exist' },
  UNREACHABLE: { status: 502, reason: 'the connection to the host failed' },
  TIME_LIMIT: { status: 504, reason: 'the host did not answer in time, or the session is over' },
  TOO_MANY_CONNECTIONS: { status: 429, reason: 'the session has too many connections open' },
  TOO_MANY_BYTES: { status: 403, reason: 'the session has moved all the bytes it may' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly reason: string }>>;

export type ProxyRefusalCode = keyof typeof proxyRefusals;

export const refusalHeader = 'x-egress-refusal';

/** A request that is answered with a refusal instead of being passed on. */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly code: ProxyRefusalCode;

  constructor(code: ProxyRefusalCode, cause?: unknown) {
    super(proxyRefusals[code].reason, { cause });
    this.code = code;
  }
}
