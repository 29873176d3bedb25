/** How a source's picture is looked at: a thumbnail of each frame, and every few frames one for faces. */
export type PictureSampling = {
  /** Constant, whatever the source's own timing: frame n stands at n / framesPerSecond. */
  readonly framesPerSecond: number;
  /** Frames from one that is searched for faces to the next. */
  readonly framesPerSample: number;
  /** Size of the frames that are searched for faces, in pixels. */
  readonly width: number;
  readonly height: number;
};

/** A talking mouth opens and shuts four or five times a second: eight samples show it. */
const samplesPerSecond = 8;
const longestSide = 640;
/** Faster sources are looked at every second frame or less often. */
const mostFramesPerSecond = 61;

/** Looks at a source at its own rate where that is usual. Pure. */
export function pictureSampling(video: {
  readonly framesPerSecond: number;
  readonly displayWidth: number;
  readonly displayHeight: number;
}): PictureSampling {
  const divisor = Math.ceil(video.framesPerSecond / mostFramesPerSecond);
  const framesPerSecond = video.framesPerSecond / divisor;
  const scale = Math.min(1, longestSide / Math.max(video.displayWidth, video.displayHeight));
  return {
    framesPerSecond,
    framesPerSample: Math.max(1, Math.round(framesPerSecond / samplesPerSecond)),
    width: evenSide(video.displayWidth * scale),
    height: evenSide(video.displayHeight * scale),
  };
}

/** Scalers want even sides; a picture of hardly any height is stretched rather than lost. */
function evenSide(pixels: number): number {
  return Math.max(16, Math.round(pixels / 2) * 2);
}
