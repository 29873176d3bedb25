import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** ffmpeg's arguments behind the source: twelve seconds of picture under fourteen of sound. */
const copies: Readonly<Record<string, readonly string[]>> = {
  'moov-last.mov': ['-c', 'copy'],
  'fragmented.mp4': ['-c', 'copy', '-movflags', 'frag_keyframe+empty_moov'],
  'tagged.mkv': ['-c', 'copy'],
  'untagged.mkv': ['-c', 'copy', '-live', '1', '-f', 'matroska'],
  'index-last.avi': ['-c', 'copy'],
  'vp8.webm': [
    '-vf',
    'scale=160:90',
    '-c:v',
    'libvpx',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-c:a',
    'libopus',
  ],
  'sound-only.m4v': ['-vn', '-c:a', 'copy', '-f', 'mp4'],
};

export const pictureMs = 12_000;

/** Makes one video per container in `folder`, large enough that headers are a small part. */
export async function makeTestVideos(folder: string): Promise<void> {
  const source = join(folder, 'moov-first.mp4');
  const noise = 'testsrc2=s=320x180:r=10:d=12,noise=alls=80:allf=t';
  await run('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', noise, '-f', 'lavfi', '-i', 'sine=d=14'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '22', '-g', '20', '-c:a', 'aac'],
    ...['-movflags', '+faststart', source],
  ]);
  for (const [name, options] of Object.entries(copies)) {
    await run('ffmpeg', ['-v', 'error', '-i', source, ...options, join(folder, name)]);
  }
}

/** Seven times the same in a row, without encoding: a large file for nothing. */
export async function repeatTestVideo(folder: string, name: string, as: string): Promise<void> {
  const source = join(folder, 'moov-first.mp4');
  await run('ffmpeg', [
    '-v',
    'error',
    '-stream_loop',
    '6',
    '-i',
    source,
    ...(copies[name] ?? []),
    join(folder, as),
  ]);
}
