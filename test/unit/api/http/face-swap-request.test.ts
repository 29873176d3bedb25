import { describe, expect, test } from 'vitest';
import {
  type FaceSwapRequest,
  faceSwapHash,
  faceSwapRequestBody,
  parseFaceSwapRequest,
} from '#api/http/face-swap-request.ts';
import type { UploadedFile } from '#api/http/uploads/received-form.ts';

const urls = { video_url: 'https://example.com/v.mp4', face_image_url: 'https://example.com/f.jpg' };

const uploaded = (field: string, sha256 = 'aa', objectKey = `uploads/1/${field}`): UploadedFile => ({
  field,
  objectKey,
  fileName: 'x',
  sha256,
  byteCount: 1,
  type: { kind: 'video', contentType: 'video/mp4' },
});
const filesOf = (...files: readonly UploadedFile[]) => new Map(files.map((file) => [file.field, file]));

function accepted(body: unknown, files = filesOf()): FaceSwapRequest {
  const parsed = parseFaceSwapRequest(body, files, []);
  if ('refused' in parsed) throw new Error(String(parsed.refused.body['error']));
  return parsed.request;
}

function refusal(body: unknown, files = filesOf()): readonly string[] {
  const parsed = parseFaceSwapRequest(body, files, []);
  if (!('refused' in parsed)) throw new Error('It was accepted.');
  expect(parsed.refused.status).toBe(400);
  return (parsed.refused.body['details'] as { path: string }[]).map(({ path }) => path);
}

describe('a face swap request', () => {
  test('has a default for the mode alone', () => {
    expect(accepted(urls)).toMatchObject({
      mode: 'fullbody',
      video: { url: urls.video_url },
      faceImage: { url: urls.face_image_url },
    });
    expect(accepted({ ...urls, mode: 'face' }).mode).toBe('face');
    expect(accepted({}, filesOf(uploaded('video'), uploaded('face_image'))).video).toEqual({
      file: uploaded('video'),
    });
  });

  test('names every field that is missing or wrong, the video first', () => {
    expect(refusal(undefined)).toEqual(['video_url', 'face_image_url']);
    expect(refusal({}, filesOf(uploaded('video')))).toEqual(['face_image_url']);
    expect(refusal({ ...urls, mode: 'x', more: 1 })).toEqual(['mode', 'more']);
    expect(refusal(urls, filesOf(uploaded('video'), uploaded('face_image')))).toEqual([
      'video_url',
      'face_image_url',
    ]);
    expect(refusal({ video_url: 'ftp://example.com', face_image_url: 'http://localhost/' })).toEqual([
      'video_url',
      'face_image_url',
    ]);
  });

  test('takes no field that the interface does not have, but the callback', () => {
    const fields = Object.keys(faceSwapRequestBody.shape).filter((field) => field !== 'callback_url');
    expect(fields).toEqual(['video_url', 'face_image_url', 'mode']);
  });
});

describe('the hash of a face swap request', () => {
  const byFile = (sha256: string, objectKey?: string) =>
    accepted({ face_image_url: urls.face_image_url }, filesOf(uploaded('video', sha256, objectKey)));

  test('is the same for the same request, wherever its files lie and however its defaults are written', () => {
    expect(faceSwapHash(accepted({ ...urls, mode: 'fullbody' }))).toBe(faceSwapHash(accepted(urls)));
    expect(faceSwapHash(byFile('aa', 'uploads/2/video'))).toBe(faceSwapHash(byFile('aa')));
  });

  test('is another one for another mode, source or callback', () => {
    const others = [
      accepted(urls),
      accepted({ ...urls, mode: 'face' }),
      accepted({ ...urls, video_url: `${urls.video_url}?2` }),
      accepted({ video_url: urls.face_image_url, face_image_url: urls.video_url }),
      accepted({ ...urls, callback_url: 'https://example.com/called' }),
      byFile('aa'),
      byFile('bb'),
    ];
    expect(new Set(others.map(faceSwapHash)).size).toBe(others.length);
  });
});
