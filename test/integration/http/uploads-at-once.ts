import { once } from 'node:events';
import { request } from 'node:http';
import { closing, formType, mp4Like, newBoundary, partHead } from './form.ts';

export type UploadsAtOnce = Readonly<{ baseUrl: string; key: string; count: number; bytes: number }>;

const PIECE = Buffer.alloc(64 * 1024, 0x62);

/** Sends `count` forms at the same time, each with a video of `bytes` that exists nowhere; gives the statuses. */
export function uploadAtOnce({ count, ...upload }: UploadsAtOnce): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, () => uploadOne(upload)));
}

async function uploadOne({ baseUrl, key, bytes }: Omit<UploadsAtOnce, 'count'>): Promise<number> {
  const boundary = newBoundary();
  const sending = request(`${baseUrl}/v1/clip`, {
    method: 'POST',
    agent: false,
    headers: { 'x-api-key': key, 'content-type': formType(boundary) },
  });
  let hasAnswer = false;
  const answered = once(sending, 'response').then(([response]) => {
    hasAnswer = true;
    return response;
  });
  sending.write(partHead(boundary, { name: 'video', fileName: 'talk.mp4' }));
  sending.write(mp4Like(PIECE.length));
  // A refusal may come before the end, and then nobody takes the rest.
  for (let left = bytes - PIECE.length; left > 0 && !hasAnswer; left -= PIECE.length) {
    const isTaken = sending.write(left < PIECE.length ? PIECE.subarray(0, left) : PIECE);
    if (!isTaken) await Promise.race([once(sending, 'drain'), answered]);
  }
  sending.end(`\r\n${closing(boundary)}`);
  const response = await answered;
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
