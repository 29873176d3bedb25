import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '#test/seeded-random.ts';
import { type Form, type FormPart, file, formOf, formType, mp4Like, text } from '../integration/http/form.ts';
import { type RawAnswer, RawClient } from '../integration/http/raw-client.ts';

/** Forms as no client should send them, over connections as no client should treat them. */

export type FuzzedRequest = Readonly<{ what: string; answer: RawAnswer | undefined }>;

export type FuzzTarget = Readonly<{
  baseUrl: string;
  key: string;
  /** What a video may have at most, so that endless ones come to an end. */
  maxBytes: number;
}>;

const names = [
  'video',
  'music',
  'num_clips',
  'length',
  'style',
  'heading_text',
  'captions_enabled',
  'video_url',
];

export class FormFuzzer {
  readonly #target: FuzzTarget;
  readonly #random: SeededRandom;

  constructor(target: FuzzTarget, random: SeededRandom) {
    this.#target = target;
    this.#random = random;
  }

  /** Sends one request of a kind that chance picks, and says what it was and what came back. */
  async send(): Promise<FuzzedRequest> {
    const kinds: Readonly<Record<string, () => Promise<RawAnswer | undefined>>> = {
      valid: () =>
        this.#sendForm(formOf([text('length', '20'), file('video', mp4Like(this.#below(50_000)))])),
      'field-less': () => this.#sendForm(this.#fieldLess()),
      truncated: () => this.#sendTruncated(),
      endless: () => this.#sendEndless(),
      'wrong boundary': () => this.#sendForm({ ...this.#form(), contentType: this.#oddContentType() }),
      'one byte at a time': () => this.#sendBytewise(),
      'huge headers': () => this.#sendForm(this.#hugeHeaders()),
      'huge HTTP headers': () => this.#sendForm(this.#form(), { 'x-large': 'x'.repeat(this.#below(40_000)) }),
      'many parts': () => this.#sendForm(this.#manyParts()),
      'lying length': () => this.#sendForm(this.#form(), { 'content-length': this.#below(5_000) }),
      chunked: () => this.#sendChunked(),
      damaged: () => this.#sendForm(this.#damaged()),
      noise: () => this.#sendForm(this.#noise()),
      abort: () => this.#sendAndAbort(),
    };
    const what = this.#pick(Object.keys(kinds));
    return { what, answer: await kinds[what]?.() };
  }

  /** An integer from 0 to `limit` - 1, small ones more often. */
  #below(limit: number): number {
    return Math.floor(this.#random() ** 2 * limit);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  }

  #part(): FormPart {
    const name = this.#pick([...names, 'unknown', '', '__proto__', 'x'.repeat(2_000)]);
    const content = this.#pick([
      () => mp4Like(100 + this.#below(200_000)),
      () => Buffer.alloc(0),
      () => this.#bytes(this.#below(5_000)),
      () => Buffer.from('20'),
      () => Buffer.alloc(100_000, 0x61),
    ])();
    const isFile = this.#random() < 0.5;
    return {
      name,
      content,
      ...(isFile && { fileName: this.#pick(['a.mp4', '', '../../etc/passwd', 'ü\u0000.mp4']) }),
    };
  }

  #bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => Math.floor(this.#random() * 256)));
  }

  #form(): Form {
    return formOf(
      Array.from({ length: 1 + this.#below(5) }, () => this.#part()),
      `b${this.#below(1e9)}`,
    );
  }

  #fieldLess(): Form {
    const body = this.#pick([
      '',
      '--B--',
      '--B--\r\n',
      '\r\n--B--',
      '--B\r\n--B--',
      '--B',
      '--',
      'preamble only',
      '\r\n',
    ]);
    return { contentType: formType('B'), body: Buffer.from(body) };
  }

  #oddContentType(): string {
    return this.#pick([
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=""',
      formType('other'),
      formType('x'.repeat(300)),
      'multipart/form-data; boundary="a\\"b"',
      'multipart/form-data; charset=x; boundary=a; boundary=b',
      'Multipart/Form-Data; BOUNDARY=q',
    ]);
  }

  #hugeHeaders(): Form {
    const count = 1 + this.#below(3_000);
    const line = `X-${'y'.repeat(this.#below(200))}: ${'z'.repeat(this.#below(100_000 / count))}\r\n`;
    const head = `--B\r\n${line.repeat(count)}Content-Disposition: form-data; name="length"\r\n`;
    const end = this.#pick(['\r\n20\r\n--B--\r\n', '\r\n', '']);
    return { contentType: formType('B'), body: Buffer.from(head + end, 'latin1') };
  }

  #manyParts(): Form {
    const name = this.#pick([...names, 'unknown']);
    return formOf(
      Array.from({ length: this.#below(2_000) }, (_, at) => text(this.#pick([name, `${name}${at}`]), '1')),
    );
  }

  /** A whole form with bytes changed, taken out and put in. */
  #damaged(): Form {
    const { contentType, body } = this.#form();
    let damaged = body;
    for (let times = 1 + this.#below(10); times > 0; times -= 1) {
      const at = Math.floor(this.#random() * damaged.length);
      const insert = this.#pick([
        this.#bytes(1),
        Buffer.from('\r\n'),
        Buffer.from('--'),
        Buffer.from('\r\n\r\n'),
        body.subarray(0, 40),
        Buffer.alloc(0),
      ]);
      damaged = Buffer.concat([damaged.subarray(0, at), insert, damaged.subarray(at + this.#below(20))]);
    }
    return { contentType, body: damaged };
  }

  #noise(): Form {
    return { contentType: formType('B'), body: this.#bytes(this.#below(20_000)) };
  }

  async #open({ contentType }: Form, headers: Readonly<Record<string, string | number>>): Promise<RawClient> {
    const client = await RawClient.connect(this.#target.baseUrl);
    await client.sendHead('/v1/clip', {
      'x-api-key': this.#target.key,
      'content-type': contentType,
      ...headers,
    });
    return client;
  }

  /** Waits for the answer and goes away. */
  async #hear(client: RawClient): Promise<RawAnswer | undefined> {
    const answer = await client.answer();
    client.abort();
    return answer;
  }

  async #sendForm(
    form: Form,
    headers: Readonly<Record<string, string | number>> = {},
  ): Promise<RawAnswer | undefined> {
    const client = await this.#open(form, { 'content-length': form.body.length, ...headers });
    await client.send(form.body);
    return this.#hear(client);
  }

  async #sendTruncated(): Promise<RawAnswer | undefined> {
    const form = this.#form();
    const client = await this.#open(form, { 'content-length': form.body.length });
    await client.send(form.body.subarray(0, Math.floor(this.#random() * form.body.length)));
    // Half of them say that no more comes; the others leave that to be found out.
    if (this.#random() < 0.5) client.end();
    return this.#hear(client);
  }

  async #sendEndless(): Promise<RawAnswer | undefined> {
    const form = formOf([this.#part()], 'B');
    const client = await this.#open(form, { 'transfer-encoding': 'chunked' });
    await client.send(chunk(form.body.subarray(0, -8)));
    const piece = chunk(Buffer.alloc(64 * 1024, 0x61));
    for (let sent = 0; sent < 4 * this.#target.maxBytes; sent += piece.length) {
      if (client.isClosed || client.received !== '') break;
      await client.send(piece);
    }
    return this.#hear(client);
  }

  async #sendBytewise(): Promise<RawAnswer | undefined> {
    const form = formOf([text('length', '20'), file('video', mp4Like(50 + this.#below(500)))]);
    const client = await this.#open(form, { 'content-length': form.body.length });
    for (const byte of form.body) await client.send(Buffer.of(byte));
    return this.#hear(client);
  }

  async #sendChunked(): Promise<RawAnswer | undefined> {
    const form = this.#form();
    const client = await this.#open(form, { 'transfer-encoding': 'chunked' });
    const pieceBytes = 1 + this.#below(20_000);
    for (let at = 0; at < form.body.length; at += pieceBytes)
      await client.send(chunk(form.body.subarray(at, at + pieceBytes)));
    await client.send(this.#pick(['0\r\n\r\n', 'nonsense\r\n']));
    return this.#hear(client);
  }

  async #sendAndAbort(): Promise<undefined> {
    const form = this.#form();
    const client = await this.#open(form, { 'content-length': form.body.length });
    await client.send(form.body.subarray(0, Math.floor(this.#random() * (form.body.length + 1))));
    await delay(this.#below(100));
    client.abort();
    return undefined;
  }
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
