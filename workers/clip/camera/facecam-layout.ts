import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box, CameraLayout } from './camera-plan.ts';
import { facesWithin, type Span } from './face-sightings.ts';
import type { Size } from './picture-pixels.ts';
import { placedBox } from './shown-areas.ts';

/** The camera's band takes no more of the clip's height. */
const mostBand = 0.4;
/** The sides of an inset are often a drawn frame: this part of it is left out on each side. */
const frameWidth = 0.015;
/** A face this much higher than the inset is the streamer's, shown large: then there is no game to show. */
const largeFace = 0.45;
/** The game's box keeps this far from the inset, whose drawn frame may be wider than what was found. */
const clearance = 0.03;
/** The game's box may leave the middle by this part of the picture's width to keep clear of the inset. */
const mostShift = 0.2;

/** The inset that is there for most of `span`, in pixels as shown; undefined where there is none. Pure. */
export function insetOf(analysis: SourceAnalysis, span: Span): Box | undefined {
  const inset = analysis.picture.insets.find(({ start_ms, end_ms }) => {
    const shared = Math.min(end_ms, span.endMs) - Math.max(start_ms, span.startMs);
    return shared > (span.endMs - span.startMs) / 2;
  });
  if (inset === undefined) return undefined;
  const isFaceLarge = facesWithin(analysis, span).some(
    ({ sightings }) => (sightings[0]?.box.height ?? 0) > largeFace * analysis.display_height,
  );
  return isFaceLarge ? undefined : placedBox(inset, analysis);
}

/** The camera's inset above, the game below, each as large as its band. Pure. */
export function facecamLayout(inset: Box, area: Box, face: Box | undefined, output: Size): CameraLayout {
  const camera = withoutFrame(inset);
  const share = Math.min(mostBand, output.width / (camera.width / camera.height) / output.height);
  const upper = { width: output.width, height: output.height * share };
  const lower = { width: output.width, height: output.height - upper.height };
  return {
    kind: 'stacked',
    above: cameraBox(camera, face, upper),
    below: gameBox(inset, area, lower),
    above_share: share,
  };
}

function withoutFrame({ x, y, width, height }: Box): Box {
  const [across, down] = [width * frameWidth, height * frameWidth];
  return { x: x + across, y: y + down, width: width - 2 * across, height: height - 2 * down };
}

/** The part of the inset that has the band's shape, with the face in it. */
function cameraBox(inset: Box, face: Box | undefined, band: Size): Box {
  const shape = band.width / band.height;
  const width = Math.min(inset.width, inset.height * shape);
  const height = Math.min(inset.height, inset.width / shape);
  const middleX = face === undefined ? inset.x + inset.width / 2 : face.x + face.width / 2;
  // A face stands in the upper half: there is hair above it, and shoulders below fill the rest.
  const top =
    face === undefined ? inset.y + (inset.height - height) / 2 : face.y + face.height * 0.45 - height * 0.45;
  return {
    x: between(middleX - width / 2, inset.x, inset.x + inset.width - width),
    y: between(top, inset.y, inset.y + inset.height - height),
    width,
    height,
  };
}

/** The game's part: the middle of the picture, moved aside where that keeps the inset out of it. */
function gameBox(inset: Box, area: Box, band: Size): Box {
  const shape = band.width / band.height;
  const width = Math.min(area.width, area.height * shape);
  const height = Math.min(area.height, area.width / shape);
  const middle = area.x + (area.width - width) / 2;
  const isLeft = inset.x + inset.width / 2 < area.x + area.width / 2;
  const clear = isLeft
    ? Math.max(middle, inset.x + inset.width * (1 + clearance))
    : Math.min(middle, inset.x - inset.width * clearance - width);
  const isNear = Math.abs(clear - middle) <= mostShift * area.width;
  return {
    x: between(isNear ? clear : middle, area.x, area.x + area.width - width),
    y: area.y + (area.height - height) / 2,
    width,
    height,
  };
}

function between(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
