import { open } from 'node:fs/promises';

/** What a file is, judged by its content alone. */
export type MediaType = {
  readonly kind: 'video' | 'audio' | 'image' | 'page' | 'playlist' | 'unknown';
  readonly contentType: string;
  /** ffmpeg's name of the one demuxer that may read it; absent where ffmpeg may not. */
  readonly demuxer?: string;
};

/** How many first bytes `sniff` wants to see. */
export const SNIFFED_BYTES = 4096;

/** Judges a file by its first bytes; never throws for strange content, only when it cannot be read. */
export async function sniffFile(path: string): Promise<MediaType> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(SNIFFED_BYTES);
    const { bytesRead } = await file.read(head, 0, SNIFFED_BYTES, 0);
    return sniff(head.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The type of content that begins with these bytes. */
export function sniff(head: Buffer): MediaType {
  return (
    isoMedia(head) ?? matroska(head) ?? riff(head) ?? audio(head) ?? image(head) ?? text(head) ?? unknown
  );
}

const unknown: MediaType = { kind: 'unknown', contentType: 'application/octet-stream' };

/** Boxes that a QuickTime or MP4 file may begin with; old QuickTime has no `ftyp`. */
const openingBoxes: ReadonlySet<string> = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp']);

function isoMedia(head: Buffer): MediaType | undefined {
  const box = head.toString('latin1', 4, 8);
  if (openingBoxes.has(box)) return { kind: 'video', contentType: 'video/quicktime', demuxer: 'mov' };
  if (box !== 'ftyp') return undefined;
  const brand = head.toString('latin1', 8, 12);
  if (/^(avif|avis|heic|heix|mif1|msf1)$/.test(brand)) return { kind: 'image', contentType: 'image/heif' };
  if (/^M4[AB]/.test(brand)) return { kind: 'audio', contentType: 'audio/mp4', demuxer: 'mov' };
  const contentType = brand === 'qt  ' ? 'video/quicktime' : 'video/mp4';
  return { kind: 'video', contentType, demuxer: 'mov' };
}

function matroska(head: Buffer): MediaType | undefined {
  if (!startsWith(head, [0x1a, 0x45, 0xdf, 0xa3])) return undefined;
  const isWebm = head.subarray(0, 128).includes('webm');
  return { kind: 'video', contentType: isWebm ? 'video/webm' : 'video/x-matroska', demuxer: 'matroska' };
}

function riff(head: Buffer): MediaType | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  const form = head.toString('latin1', 8, 12);
  if (form === 'AVI ' || form === 'AVIX') {
    return { kind: 'video', contentType: 'video/x-msvideo', demuxer: 'avi' };
  }
  if (form === 'WAVE') return { kind: 'audio', contentType: 'audio/wav', demuxer: 'wav' };
  return form === 'WEBP' ? { kind: 'image', contentType: 'image/webp' } : undefined;
}

function audio(head: Buffer): MediaType | undefined {
  if (head.toString('latin1', 0, 3) === 'ID3')
    return { kind: 'audio', contentType: 'audio/mpeg', demuxer: 'mp3' };
  const [first = 0, second = 0, third = 0xff] = head;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  // An MPEG frame's layer bits are 00 only in AAC's ADTS, which shares the sync word.
  const isAdts = (second & 0xf6) === 0xf0;
  if (isAdts) return { kind: 'audio', contentType: 'audio/aac', demuxer: 'aac' };
  return isMp3Frame(second, third) ? { kind: 'audio', contentType: 'audio/mpeg', demuxer: 'mp3' } : undefined;
}

/** Layer III with a version, bit rate and sample rate that exist: text in UTF-16 begins with a sync word too. */
function isMp3Frame(second: number, third: number): boolean {
  const isLayer3 = (second & 0x06) === 0x02;
  const hasVersion = (second & 0x18) !== 0x08;
  return isLayer3 && hasVersion && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c;
}

function image(head: Buffer): MediaType | undefined {
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47])) return { kind: 'image', contentType: 'image/png' };
  if (startsWith(head, [0xff, 0xd8, 0xff])) return { kind: 'image', contentType: 'image/jpeg' };
  if (head.toString('latin1', 0, 4) === 'GIF8') return { kind: 'image', contentType: 'image/gif' };
  return undefined;
}

function text(head: Buffer): MediaType | undefined {
  const start = head
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (/^(#EXTM3U|ffconcat\b)/i.test(start) || /^(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<MPD\b/is.test(start)) {
    return { kind: 'playlist', contentType: 'text/plain' };
  }
  if (/^(<!doctype|<html|<head|<body|<script|<\?xml|<svg|<!--|[{[]\s*")/i.test(start)) {
    return { kind: 'page', contentType: 'text/html' };
  }
  return undefined;
}

function startsWith(head: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[index] === byte);
}
