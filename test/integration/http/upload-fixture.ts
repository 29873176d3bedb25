import { parseConfig } from '#infra/config.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { abandonUpload, unfinishedUploads } from '#infra/object-storage/unfinished-uploads.ts';
import type { ApiAnswer, ApiInstance } from '../api-fixture.ts';
import { type Form, type FormPart, formOf } from './form.ts';

/** Sends forms to `POST /v1/clip`. */
export async function postForm(
  api: Pick<ApiInstance, 'url'>,
  form: Form,
  headers: Readonly<Record<string, string>>,
): Promise<ApiAnswer> {
  const response = await fetch(`${api.url}/v1/clip`, {
    method: 'POST',
    headers: { 'content-type': form.contentType, ...headers },
    body: new Uint8Array(form.body),
  });
  const body = (await response.json()) as ApiAnswer['body'];
  return { status: response.status, headers: response.headers, body };
}

export const postParts = (
  api: Pick<ApiInstance, 'url'>,
  parts: readonly FormPart[],
  headers: Readonly<Record<string, string>>,
): Promise<ApiAnswer> => postForm(api, formOf(parts), headers);

export const errorOf = ({ status, body }: ApiAnswer): string => `${status} ${String(body['error'])}`;

/** What uploads leave in a tenant's bucket. */
export class UploadedObjects {
  readonly storage: ObjectStorage;

  constructor(environment: Readonly<Record<string, string>>) {
    this.storage = ObjectStorage.connect(storageSettings(parseConfig(environment)));
  }

  async keys(): Promise<readonly string[]> {
    const keys: string[] = [];
    for await (const { key } of this.storage.list('uploads/')) keys.push(key);
    return keys;
  }

  async unfinished(): Promise<readonly string[]> {
    return (await unfinishedUploads(this.storage)).map(({ key }) => key);
  }

  /** Everything, the parts of unfinished uploads included. */
  async all(): Promise<readonly string[]> {
    const unfinished = await this.unfinished();
    return [...(await this.keys()), ...unfinished.map((key) => `unfinished ${key}`)];
  }

  async clear(): Promise<void> {
    await this.storage.deletePrefix('uploads/');
    for (const upload of await unfinishedUploads(this.storage)) await abandonUpload(this.storage, upload);
  }

  close(): void {
    this.storage.close();
  }
}
