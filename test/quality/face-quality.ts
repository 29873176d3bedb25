import sharp from 'sharp';
import type { PictureAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import type { FaceFinder } from '#workers/media/faces/face-finder.ts';

const longestSide = 640;

/** The part of the frames searched for faces in which there was one (or `count`). */
export function seenShare(picture: PictureAnalysis, count = 1): number {
  const faces = new Map<number, number>();
  for (const frame of picture.face_tracks.flatMap(({ frames }) => frames)) {
    faces.set(frame, (faces.get(frame) ?? 0) + 1);
  }
  const enough = [...faces.values()].filter((seen) => seen >= count).length;
  return enough / Math.ceil(picture.frame_count / picture.frames_per_sample);
}

/** How many faces are found in a still picture. */
export async function countFaces(path: string, finder: FaceFinder): Promise<number> {
  const { data, info } = await sharp(path)
    .autoOrient()
    .removeAlpha()
    .toColourspace('srgb')
    .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return (await finder.find({ data, width: info.width, height: info.height })).length;
}
