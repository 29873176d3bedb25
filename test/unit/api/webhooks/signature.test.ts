import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { shownSecret, signedHeaders } from '#api/webhooks/signature.ts';

/** The example that the project of the specification tests its own libraries by. */
const published = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1614265330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const publishedSecret = Buffer.from(published.secret.replace('whsec_', ''), 'base64');

test('the published example gets the published signature', () => {
  const at = new Date(published.timestamp * 1_000 + 999);
  const headers = signedHeaders({ id: published.id, at, body: published.body }, [publishedSecret]);
  expect(headers).toEqual({
    'webhook-id': published.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': published.signature,
  });
  expect(shownSecret(publishedSecret)).toBe(published.secret);
});

test('with two secrets, receivers that have either one accept, and one that has neither refuses', () => {
  const secrets = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const body = '{"text":"Grüße ✓"}';
  const headers = signedHeaders({ id: 'a-b-c', at: new Date(), body }, secrets);
  for (const secret of secrets)
    expect(new Webhook(shownSecret(secret)).verify(body, headers)).toEqual({ text: 'Grüße ✓' });
  const stranger = new Webhook(shownSecret(Buffer.alloc(32, 3)));
  expect(() => stranger.verify(body, headers)).toThrow('No matching signature');
  expect(() => new Webhook(shownSecret(Buffer.alloc(32, 1))).verify(`${body} `, headers)).toThrow(
    'No matching signature',
  );
});
