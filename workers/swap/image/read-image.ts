import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';

/** An image ready to look for faces in: 8-bit sRGB, upright, on grey where it was transparent. */
export type ReadImage = {
  readonly frame: RgbFrame;
  /** Size as shown, before it was made smaller. */
  readonly width: number;
  readonly height: number;
};

/** 100 megapixels: more than any camera's JPEG, and 300 MB at most while it is read. */
const mostPixels = 100_000_000;
const longestSide = 2400;
const readable: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

/** Reads a JPEG, PNG or WebP (its first picture) whatever its depth and colours. Throws `MediaFailure`. */
export async function readImage(path: string): Promise<ReadImage> {
  const { contentType } = await sniffFile(path);
  if (!readable.has(contentType) || (await stat(path)).size === 0) {
    throw new MediaFailure(
      'NOT_AN_IMAGE',
      'The face image is not a picture that can be read: jpg, png and webp are supported.',
      {
        detail: contentType,
      },
    );
  }
  try {
    const image = sharp(path, { limitInputPixels: mostPixels, failOn: 'error', pages: 1 });
    const { width, height, orientation = 1 } = await image.metadata();
    const isTurned = orientation >= 5;
    const { data, info } = await image
      .autoOrient()
      .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .flatten({ background: '#808080' })
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return {
      frame: { data: threeChannels(data, info.channels), width: info.width, height: info.height },
      width: isTurned ? height : width,
      height: isTurned ? width : height,
    };
  } catch (cause) {
    const isLarge = String(cause).includes('pixel limit');
    throw isLarge
      ? new MediaFailure('NOT_AN_IMAGE', 'The face image is too large: at most 100 megapixels are read.', {
          cause,
        })
      : new MediaFailure('NOT_AN_IMAGE', 'The face image is damaged and cannot be read.', {
          cause,
          detail: String(cause),
        });
  }
}

function threeChannels(data: Buffer, channels: number): Uint8Array {
  if (channels === 3) return new Uint8Array(data);
  const out = new Uint8Array((data.length / channels) * 3);
  for (let at = 0, from = 0; at < out.length; at += 3, from += channels) {
    for (let channel = 0; channel < 3; channel += 1) {
      out[at + channel] = data[from + (channels < 3 ? 0 : channel)] as number;
    }
  }
  return out;
}

/** A part of a frame, made smaller by `scale` (at most 1). */
export async function croppedFrame(
  frame: RgbFrame,
  part: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
  scale: number,
): Promise<RgbFrame> {
  const { data, info } = await sharp(frame.data, {
    raw: { width: frame.width, height: frame.height, channels: 3 },
  })
    .extract(part)
    .resize({ width: Math.max(2, Math.round(part.width * scale)), fit: 'inside' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), width: info.width, height: info.height };
}
