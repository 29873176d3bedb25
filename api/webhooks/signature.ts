import { createHmac } from 'node:crypto';

/** Signatures of Standard Webhooks 1.0.0, symmetric: https://www.standardwebhooks.com */

const SECRET_PREFIX = 'whsec_';

/** A secret as receivers are given it. */
export const shownSecret = (secret: Buffer): string => `${SECRET_PREFIX}${secret.toString('base64')}`;

export type MessageToSign = Readonly<{
  /** The same for each attempt to deliver the message; without a full stop. */
  id: string;
  /** When this attempt is made; whole seconds count. */
  at: Date;
  /** The bytes as they are sent. */
  body: string;
}>;

/** The headers by which a receiver that has any one of `secrets` knows that the message is ours, and new. */
export function signedHeaders(
  message: MessageToSign,
  secrets: readonly Buffer[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(message.at.getTime() / 1_000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
