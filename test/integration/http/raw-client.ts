import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const TICK_MS = 1_000;

/** A client on a bare socket: it can send half a request, or something that is none, and go away at any time. */
export class RawClient {
  readonly #socket: Socket;
  #received = '';
  #isClosed = false;
  readonly #closed: Promise<void>;
  /** Resolves when something has come or the connection is closed, and at each tick; then it is another one. */
  #change: Promise<void> = Promise.resolve();
  #changed: () => void = () => undefined;
  readonly #clock: NodeJS.Timeout;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#renew();
    this.#clock = setInterval(() => this.#renew(), TICK_MS);
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        clearInterval(this.#clock);
        this.#renew();
        resolve();
      });
    });
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1');
      this.#renew();
    });
    socket.on('drain', () => this.#renew());
    // A reset is a way for the server to end the conversation; the test looks at what was received.
    socket.on('error', () => undefined);
  }

  static async connect(baseUrl: string): Promise<RawClient> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  #renew(): void {
    this.#changed();
    this.#change = new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  /** Sends, and waits while the server does not take more. */
  async send(bytes: string | Buffer): Promise<void> {
    if (this.#isClosed || this.#socket.write(bytes)) return;
    while (this.#socket.writableNeedDrain && !this.#isClosed) await this.#change;
  }

  sendHead(path: string, headers: Readonly<Record<string, string | number>>): Promise<void> {
    const lines = Object.entries({ host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}`);
    return this.send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  /** What has come back so far. */
  get received(): string {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The answer, once it is there whole; undefined when the connection ended without one. */
  async answer(limitMs = 60_000): Promise<RawAnswer | undefined> {
    const endMs = Date.now() + limitMs;
    for (;;) {
      const answer = parseAnswer(this.#received);
      if (answer !== undefined || this.#isClosed) return answer;
      if (Date.now() > endMs) throw new Error(`No answer within ${limitMs} ms; so far: ${this.#received}`);
      await this.#change;
    }
  }

  /** Resolves once `text` has come; rejects when the connection ends without it. */
  async receives(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (this.#isClosed) throw new Error(`Only this came: ${this.#received}`);
      await this.#change;
    }
  }

  /** Resolves when the server has closed the connection. */
  closed(): Promise<void> {
    return this.#closed;
  }

  /** Says that nothing more comes. */
  end(): void {
    this.#socket.end();
  }

  /** Goes away at once, as a client that crashed. */
  abort(): void {
    this.#socket.resetAndDestroy();
  }
}

export type RawAnswer = Readonly<{
  status: number;
  headers: ReadonlyMap<string, string>;
  body: Readonly<Record<string, unknown>>;
}>;

function parseAnswer(received: string): RawAnswer | undefined {
  // An interim answer, such as 100, comes before the one that counts.
  const final = received.replace(/^(HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n)+/, '');
  const headEnd = final.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = final.slice(0, headEnd).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers.get('content-length') ?? 0);
  // Bytes after it belong to the next answer.
  const bytes = Buffer.from(final.slice(headEnd + 4, headEnd + 4 + length), 'latin1');
  if (bytes.length < length) return undefined;
  const status = Number(statusLine.split(' ')[1]);
  return { status, headers, body: length === 0 ? {} : JSON.parse(bytes.toString('utf8')) };
}
