import { z } from 'zod';

/**
 * What one look at a source has shown, as it is stored: plain JSON, made once for each source and read by all
 * its clips and their retries. Times are milliseconds of the source, frames count from its beginning.
 * A change that old readers would misunderstand takes a new version.
 */
export const analysisVersion = 1;

const milliseconds = z.int().min(0);
const whole = z.array(z.int());

export const spanSchema = z.object({ start_ms: milliseconds, end_ms: milliseconds });

/**
 * One face in one shot: columns of equal length, a row for each sample in which it was seen. Positions are
 * ten-thousandths of the picture's width or height as shown.
 */
export const faceTrackSchema = z.object({
  /** Numbers of the frames, ascending; a gap means that the face was not seen there. */
  frames: whole,
  left: whole,
  top: whole,
  right: whole,
  bottom: whole,
  /** The point between the eyes. */
  eyes_x: whole,
  eyes_y: whole,
  /** Distance of the outer corners of the eyes, in ten-thousandths of the width. */
  eye_distance: whole,
  /** How far the lips are apart, in thousandths of the eye distance; -1 where the mesh did not see the face. */
  lips: whole,
  /** How far the lids are apart, in thousandths of the eye's width; -1 likewise. */
  lids: whole,
  /** Degrees: positive when the face looks to the right edge of the picture, and up. 0 without a mesh. */
  yaw: whole,
  pitch: whole,
  roll: whole,
  /** How sure the detector is, in per cent. */
  score: whole,
});

const tenThousandths = z.int().min(0).max(10_000);

/** An upright part of the picture for a while: ten-thousandths of its width or height as shown. */
export const placedSpanSchema = spanSchema.extend({
  left: tenThousandths,
  top: tenThousandths,
  right: tenThousandths,
  bottom: tenThousandths,
});

export const pictureAnalysisSchema = z.object({
  /** Of the analysis: frame n stands at n / frames_per_second. */
  frames_per_second: z.number().positive(),
  /** What was really decoded, whatever the headers say. */
  frame_count: z.int().min(1),
  duration_ms: milliseconds,
  /** Faces were looked for in each such frame: 0, this, twice this. */
  frames_per_sample: z.int().min(1),
  /** The first frame of each new shot but the first, ascending. */
  cut_frames: whole,
  /** How much the picture moves inside shots, 0 to 255, a value each half second. */
  motion: z.array(z.number()),
  black: z.array(spanSchema),
  face_tracks: z.array(faceTrackSchema),
  /** What is shown between black bars, for the shots that have them. */
  bar_areas: z.array(placedSpanSchema),
  /** Pictures of a camera that are laid over the video, such as a streamer's face over a game. */
  insets: z.array(placedSpanSchema),
});

export const wordSchema = z.object({
  /** As recognised, with its punctuation. */
  text: z.string(),
  start_ms: milliseconds,
  end_ms: milliseconds,
  /** 0 to 1: around 0.9 where right, below 0.75 where poor. */
  confidence: z.number(),
});

export const soundAnalysisSchema = z.object({
  /** BCP 47; the language that the words were recognised as. */
  language: z.string(),
  /** Phrases of speech, bounded by pauses, in whatever language. */
  utterances: z.array(spanSchema),
  words: z.array(wordSchema),
  /** Numbers of the first word of each sentence, ascending; a sentence ends before the next. */
  sentence_starts: whole,
  /** Momentary loudness (EBU R128, 400 ms) in tenths of a LUFS, a value each 100 ms; -1000 for silence. */
  loudness: whole,
});

export const sourceAnalysisSchema = z.object({
  version: z.literal(analysisVersion),
  /** How much of the source can be shown: what was decoded, and no more than its headers promise. */
  duration_ms: milliseconds,
  /** The source's own, which can be more than its picture was looked at. */
  frames_per_second: z.number().positive(),
  /** Size as shown, after rotation and sample aspect. */
  display_width: z.int().min(1),
  display_height: z.int().min(1),
  picture: pictureAnalysisSchema,
  /** Null for a source without sound. */
  sound: soundAnalysisSchema.nullable(),
});

export type PlacedSpan = z.infer<typeof placedSpanSchema>;
export type FaceTrack = z.infer<typeof faceTrackSchema>;
export type PictureAnalysis = z.infer<typeof pictureAnalysisSchema>;
export type SpokenWord = z.infer<typeof wordSchema>;
export type SoundAnalysis = z.infer<typeof soundAnalysisSchema>;
export type SourceAnalysis = z.infer<typeof sourceAnalysisSchema>;
