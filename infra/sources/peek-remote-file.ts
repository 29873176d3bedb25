import type { Resolve } from '../egress/checked-address.ts';
import { explainFailure, tooLarge } from '../egress/explain-failure.ts';
import { announcedLength, refuseStatus } from '../egress/fetch-to-file.ts';
import type { EgressAllow } from '../egress/forbidden-url.ts';
import { type GuardedResponse, guardedRequest } from '../egress/guarded-request.ts';

export type PeekedFile = {
  readonly url: string;
  /** What is looked at, for messages: `face image`. */
  readonly what: string;
  readonly allow: EgressAllow;
  /** A file that says it is larger is refused. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
};

const headBytes = 4096;
const idleTimeoutMs = 10_000;

/** The first bytes of the file at a stranger's URL, through the egress guard. Throws `EgressFailure`. */
export async function peekRemoteFile(peek: PeekedFile): Promise<Buffer> {
  const limit = AbortSignal.timeout(peek.timeoutMs);
  const signal = AbortSignal.any([limit, peek.signal]);
  try {
    const response = await guardedRequest({ ...peek, idleTimeoutMs, signal });
    try {
      refuseStatus(peek.what, response);
      if ((announcedLength(response) ?? 0) > peek.maxBytes) throw tooLarge(peek);
      return await headOf(response);
    } finally {
      await response.close();
    }
  } catch (error) {
    throw explainFailure(error, { ...peek, timedOut: limit.aborted });
  }
}

async function headOf(response: GuardedResponse): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response.body as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= headBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, headBytes);
}
