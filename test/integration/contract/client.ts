/** A client of the service as somebody writes it who has nothing but the interface's description. */

export type Answer = Readonly<{ status: number; headers: Headers; body: Record<string, unknown> }>;
export type FormPart = string | Readonly<{ bytes: Uint8Array; fileName: string }>;
type HeaderFields = Readonly<Record<string, string>>;

export class Client {
  readonly baseUrl: string;
  readonly key: string | undefined;

  constructor(baseUrl: string, key: string | undefined) {
    this.baseUrl = baseUrl;
    this.key = key;
  }

  get(path: string, headers: HeaderFields = {}): Promise<Answer> {
    return this.send('GET', path, { headers });
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path, {});
  }

  post(path: string, body: unknown, headers: HeaderFields = {}): Promise<Answer> {
    const json = { 'content-type': 'application/json', ...headers };
    return this.send('POST', path, { headers: json, body: JSON.stringify(body) });
  }

  /** The parts are sent in the order given. */
  form(
    path: string,
    parts: readonly (readonly [string, FormPart])[],
    headers: HeaderFields = {},
  ): Promise<Answer> {
    const body = new FormData();
    for (const [name, part] of parts) {
      if (typeof part === 'string') body.append(name, part);
      else body.append(name, new Blob([new Uint8Array(part.bytes)]), part.fileName);
    }
    return this.send('POST', path, { headers, body });
  }

  async send(method: string, path: string, init: RequestInit & { headers?: HeaderFields }): Promise<Answer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      ...init,
      method,
      headers: { ...(this.key !== undefined && { 'x-api-key': this.key }), ...init.headers },
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } };
  }
}
