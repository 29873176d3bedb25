import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Client, FormPart } from './client.ts';
import { badUrls, bodyWith, clipFields, type FieldRow, urlFields } from './clip-fields.ts';
import type { ContractSystem } from './contract-system.ts';
import { bodies, expectError, expectInvalid } from './expectations.ts';

const CLIP_CENTS = 150;

/** Section 4.2 of the interface: `POST /v1/clip` with both forms, field by field. */
export function createClipContract(system: () => ContractSystem): void {
  let client: Client;
  let source: { readonly video_url: string };
  beforeAll(async () => {
    client = system().rich;
    source = { video_url: system().sources.url('12s.mov') };
  });

  const asJson = (body: Record<string, unknown>, headers = {}) =>
    client.post('/v1/clip', { ...source, ...body }, headers);
  const asForm = (parts: readonly (readonly [string, FormPart])[], headers = {}) =>
    client.form('/v1/clip', [['video_url', source.video_url], ...parts], headers);

  describe.each(clipFields.map((row) => [row.json, row] as const))('%s', (_name, row) => {
    const expectTaken = (answer: Answer, value: unknown): void =>
      void expectCreated(answer, row.json === 'num_clips' ? Number(value) : 1);

    test.concurrent('takes in JSON what the table allows', async () => {
      await eachOf(row.valid, async (value) => expectTaken(await asJson(bodyWith(row.json, value)), value));
    });
    test.concurrent('takes in a form what the table allows', async () => {
      await eachOf(row.valid, async (value) => expectTaken(await asForm([[row.form, String(value)]]), value));
    });
    test.concurrent('refuses the rest in JSON', async () => {
      await eachOf(row.invalid, async (value) =>
        expectInvalid(await asJson(bodyWith(row.json, value)), row.json, row.rule),
      );
    });
    test.concurrent('refuses the rest in a form', async () => {
      await eachOf(row.invalidInForm, async (value) =>
        expectInvalid(await asForm([[row.form, value]]), row.form, row.rule),
      );
    });
    if (row.default !== undefined) test.concurrent('has its default when left out', () => expectDefault(row));
  });

  /** A default is one if writing it out makes the same request, which an Idempotency-Key shows. */
  async function expectDefault(row: FieldRow): Promise<void> {
    const headers = { 'idempotency-key': `default of ${row.json}` };
    const parent = row.json.includes('.') ? { [row.json.split('.')[0] ?? '']: {} } : {};
    const first = await asJson(parent, headers);
    expectCreated(first, 1);
    const written = await asJson(bodyWith(row.json, row.default), headers);
    expect([written.status, written.body]).toEqual([200, first.body]);
    const inForm = await asForm([[row.form, String(row.default)]], headers);
    expect([inForm.status, inForm.body]).toEqual([200, first.body]);
  }

  describe('the source', () => {
    test.concurrent('has to be there', async () => {
      const text = 'A video_url or a video file via multipart form data must be provided.';
      expectError(await client.post('/v1/clip', {}), 400, text);
      expectError(await client.form('/v1/clip', [['num_clips', '1']]), 400, text);
    });

    test.concurrent.each(urlFields)('%s must be a URL that the service may fetch', async (field) => {
      await eachOf(badUrls, async (value) => expectInvalid(await asJson({ [field]: value }), field, []));
      await eachOf(
        badUrls.filter((value) => typeof value === 'string'),
        async (value) => {
          const others = field === 'video_url' ? [] : [['video_url', source.video_url] as const];
          expectInvalid(await client.form('/v1/clip', [...others, [field, value]]), field, []);
        },
      );
    });

    test.concurrent('a music_url that could be fetched', async () => {
      const music_url = system().sources.url('song.mp3');
      expectCreated(await asJson({ music_url }), 1);
    });
  });

  test.concurrent('fields that are not in the tables are refused, not ignored', async () => {
    expectInvalid(await asJson({ numclips: 2 }), 'numclips', ['num_clips']);
    expectInvalid(await asJson({ heading: { colour: 'red' } }), 'heading.colour', ['color']);
    expectInvalid(await asJson({ captions: { size: 3 } }), 'captions.size', ['enabled']);
    expectInvalid(await asJson({ heading_text: 'x' }), 'heading_text', []);
    expectInvalid(await asForm([['numclips', '2']]), 'numclips', []);
    expectInvalid(await asForm([['heading.text', 'x']]), 'heading.text', []);
  });

  test.concurrent('objects must be objects', async () => {
    for (const field of ['heading', 'captions'])
      await eachOf([null, [], 'text', 1, true], async (value) =>
        expectInvalid(await asJson({ [field]: value }), field, []),
      );
    for (const field of ['heading', 'captions']) expectCreated(await asJson({ [field]: {} }), 1);
  });

  test.concurrent('every error of a request is told at once', async () => {
    const answer = await asJson({ num_clips: 11, length: 9, style: 'funny' });
    expect(answer.body['details']).toMatchObject([
      { path: 'num_clips' },
      { path: 'style' },
      { path: 'length' },
    ]);
  });

  test.concurrent('costs 150 cents a clip, charged at once', async () => {
    const payer = await system().client({ cents: 1_000 });
    expectCreated(await payer.post('/v1/clip', { ...source, num_clips: 4 }), 4);
    const { body } = await system().elsewhere(payer).get('/v1/wallet');
    expect(body).toMatchObject({ balance_cents: 400, total_spent_cents: 600 });
  });

  test.concurrent('402 with both sums when the balance is below the cost', async () => {
    const payer = await system().client({ cents: 500 });
    for (const answer of [
      await payer.post('/v1/clip', { ...source, num_clips: 4 }),
      await payer.form('/v1/clip', [
        ['video_url', source.video_url],
        ['num_clips', '4'],
      ]),
    ])
      expect([answer.status, answer.body]).toEqual([
        402,
        { error: 'Insufficient wallet balance', required_cents: 600, balance_cents: 500 },
      ]);
    expect((await payer.get('/v1/wallet')).body).toMatchObject({ balance_cents: 500, total_spent_cents: 0 });
  });

  test.concurrent('what is refused costs nothing', async () => {
    const payer = await system().client({ cents: 500 });
    await Promise.all([
      payer.post('/v1/clip', {}),
      payer.post('/v1/clip', { ...source, num_clips: 0 }),
      payer.post('/v1/clip', { ...source, unknown: 1 }),
      payer.post('/v1/clip', { ...source, prompt: 1 }),
      payer.send('POST', '/v1/clip', { body: '{', headers: { 'content-type': 'application/json' } }),
      payer.post('/v1/clip', { ...source, num_clips: 10 }),
    ]);
    expect((await payer.get('/v1/wallet')).body).toMatchObject({ balance_cents: 500, total_spent_cents: 0 });
  });
}

/** Every value at the same time; all that deviate are named. */
export async function eachOf<Value>(
  values: readonly Value[],
  check: (value: Value) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled(values.map(check));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [`${label(values[index])}: ${outcome.reason.message}`] : [],
  );
  expect(failures.join('\n')).toBe('');
}

const label = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 60);

export function expectCreated(answer: Answer, clipCount: number): string {
  expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ status: 'processing' })]);
  const body = bodies.clipCreated.parse(answer.body);
  expect(body).toMatchObject({ num_clips: clipCount, cost_cents: clipCount * CLIP_CENTS });
  expect(answer.headers.get('location')).toBe(`/v1/clip/${body.job_id}`);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
  return body.job_id;
}
