import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Hostile and odd media that some machines have beside the checkout; what each must come to. */

const media = resolve(
  process.env['CLIPLEDGER_MEDIA'] ?? join(import.meta.dirname, '../../../../shared/media'),
);
const folder = join(media, 'hostile');

/** Odd, but they play: each must become a clip. */
const playable: readonly string[] = [
  'anamorphic_sar_4_3.mp4',
  'audio_longer_than_video.mp4',
  'hdr10_10bit_hevc.mp4',
  'high_fps_240.mp4',
  'late_audio_start.mp4',
  'low_fps_1.mp4',
  'media__sample_portrait.mp4',
  'media__silent-black-10s.mp4',
  'mono_8k_vs_6ch.mp4',
  "name with space;$(id)`x`'q'.mp4",
  'polyglot_mp4_zip.mp4',
  'rotate_90.mp4',
  'two_audio_tracks_subs.mkv',
  'vfr.mp4',
  'video_only_no_audio.mp4',
  'yuv444_odd_321x181.mp4',
];

/** Those that every run tries: what leads elsewhere, what breaks readers, and one that must succeed. */
const everyRun: ReadonlySet<string> = new Set([
  'concat_named.mp4',
  'dash_xxe.mpd',
  'deep_nested_boxes.mp4',
  'hls_concat_exfil.m3u8',
  'hls_named.avi',
  'hls_named.mp4',
  'huge_box_size.mp4',
  'lie_stsz_count.mp4',
  'png_bomb_30000x30000.png',
  'polyglot_mp4_zip.mp4',
  'random_noise.mp4',
  'trunc_no_moov.mp4',
  'zero_length.mp4',
]);

/** No video at all, or one of which nothing can be shown. */
const worthless =
  /\.(m3u8|txt|mpd|vtt|srt|svg|png|jpg|gif|mp3|wav|mpg)$|^(hls|concat|text|html|random|zero|one_byte|audio_only|png|deep|lie_stsz|trunc_no_moov|trunc_90)/;

export type HostileFile = {
  readonly name: string;
  readonly path: string;
  /** What it must come to: a clip, a refusal or failure, or (where tools may differ) either of the two. */
  readonly must: 'play' | 'fail' | 'end';
};

/** `all` (`npm run hostile`), or parts of names, with commas between; absent for the worst alone. */
const wanted = process.env['HOSTILE_MEDIA']?.split(',');
export const isWholeRun = wanted?.includes('all') === true;

/** Empty where this machine has none. */
export const hostileFiles: readonly HostileFile[] = (existsSync(folder) ? readdirSync(folder) : [])
  .filter((name) => isWholeRun || (wanted?.some((part) => name.includes(part)) ?? everyRun.has(name)))
  .map((name) => ({ name, path: join(folder, name), must: mustOf(name) }));

function mustOf(name: string): HostileFile['must'] {
  if (playable.includes(name)) return 'play';
  return worthless.test(name) ? 'fail' : 'end';
}
