import type { FaceTrack, SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';

/** A face that a made-up analysis holds: where its middle is (in pixels) and how far its lips are apart. */
export type MadeFace = {
  readonly startMs: number;
  readonly endMs: number;
  readonly middle: (ms: number) => { readonly x: number; readonly y: number };
  readonly height: number | ((ms: number) => number);
  /** In parts of the eye distance. */
  readonly lips?: (ms: number) => number;
};

export type MadeSource = {
  readonly width?: number;
  readonly height?: number;
  readonly durationMs?: number;
  readonly cutsMs?: readonly number[];
  readonly faces?: readonly MadeFace[];
  /** In LUFS, at each moment. */
  readonly loudness?: (ms: number) => number;
  readonly sentencesMs?: readonly number[];
  readonly insets?: SourceAnalysis['picture']['insets'];
  readonly barAreas?: SourceAnalysis['picture']['bar_areas'];
};

const framesPerSecond = 25;
const framesPerSample = 3;

/** An analysis as one look at such a source would give it: 25 frames a second, faces in every third. */
export function madeAnalysis(source: MadeSource): SourceAnalysis {
  const { width = 1280, height = 720, durationMs = 10_000 } = source;
  const frame = (ms: number): number => Math.round((ms / 1000) * framesPerSecond);
  const starts = source.sentencesMs ?? [];
  return {
    version: 1,
    duration_ms: durationMs,
    frames_per_second: framesPerSecond,
    display_width: width,
    display_height: height,
    picture: {
      frames_per_second: framesPerSecond,
      frame_count: frame(durationMs),
      duration_ms: durationMs,
      frames_per_sample: framesPerSample,
      cut_frames: (source.cutsMs ?? []).map(frame),
      motion: [],
      black: [],
      face_tracks: (source.faces ?? []).map((face) => track(face, { width, height })),
      bar_areas: source.barAreas ?? [],
      insets: source.insets ?? [],
    },
    sound: {
      language: 'en',
      utterances: [],
      words: starts.map((start_ms) => ({ text: 'Word.', start_ms, end_ms: start_ms + 300, confidence: 0.9 })),
      sentence_starts: starts.map((_, index) => index),
      loudness: Array.from({ length: Math.ceil(durationMs / 100) }, (_, step) =>
        Math.round((source.loudness?.(step * 100) ?? -70) * 10),
      ),
    },
  };
}

function track(face: MadeFace, { width, height }: { width: number; height: number }): FaceTrack {
  const step = (framesPerSample * 1000) / framesPerSecond;
  const first = Math.ceil(face.startMs / step);
  const last = Math.ceil(face.endMs / step) - 1;
  const samples = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const across = (pixels: number): number => Math.round((pixels / width) * 10_000);
  const down = (pixels: number): number => Math.round((pixels / height) * 10_000);
  const high = (ms: number): number => (typeof face.height === 'number' ? face.height : face.height(ms));
  const column = (value: (ms: number) => number): number[] => samples.map((sample) => value(sample * step));
  const zeros = samples.map(() => 0);
  return {
    frames: samples.map((sample) => sample * framesPerSample),
    left: column((ms) => across(face.middle(ms).x - high(ms) * 0.4)),
    right: column((ms) => across(face.middle(ms).x + high(ms) * 0.4)),
    top: column((ms) => down(face.middle(ms).y - high(ms) / 2)),
    bottom: column((ms) => down(face.middle(ms).y + high(ms) / 2)),
    eyes_x: column((ms) => across(face.middle(ms).x)),
    eyes_y: column((ms) => down(face.middle(ms).y - high(ms) * 0.12)),
    eye_distance: column((ms) => across(high(ms) * 0.4)),
    lips: column((ms) => Math.round((face.lips?.(ms) ?? 0.01) * 1000)),
    lids: zeros,
    yaw: zeros,
    pitch: zeros,
    roll: zeros,
    score: samples.map(() => 90),
  };
}
