import type { HttpService } from './http-service.ts';

const DAY_SECONDS = 86_400;
const LINK_SECONDS = 7 * DAY_SECONDS;
/** Results are kept for 37 days, so every link that is signed within 30 lives its 7 days. */
const SIGNED_FOR_MS = 30 * DAY_SECONDS * 1_000;

/** A finished result that may still be downloaded: a link that lives 7 days from now, else no field at all. */
export async function downloadLink(
  result: { readonly objectKey: string | null; readonly finishedAt: Date; readonly fileName: string },
  { storage, now }: Pick<HttpService, 'storage' | 'now'>,
): Promise<{ download_url?: string }> {
  const { objectKey: key, finishedAt, fileName } = result;
  if (key === null || now().getTime() - finishedAt.getTime() > SIGNED_FOR_MS) return {};
  return { download_url: await storage.presignedGet({ key, expiresInSeconds: LINK_SECONDS, fileName }) };
}
