/** What ffmpeg says about a source while it decodes it (with `-v repeat+info`: each fault a line of its own). */
export type DecoderMessages = {
  readonly onStderr: (piece: Buffer) => void;
  /** Frames of the picture that came out damaged or not at all. */
  readonly damagedFrames: () => number;
  /** Whether a cut's start could not be found by the file's index. */
  readonly seekFailed: () => boolean;
};

const longestLine = 1_024;

/** Reads ffmpeg's messages as they come; `streamIndex` is the picture's. */
export function readDecoderMessages(streamIndex: number): DecoderMessages {
  const damaged = new RegExp(
    `corrupt decoded frame(?: in stream ${streamIndex}\\b|$)|Error while decoding stream #\\d+:${streamIndex}\\b`,
  );
  let [damagedFrames, seekFailed, rest] = [0, false, ''];
  return {
    onStderr: (piece) => {
      const lines = (rest + piece.toString('latin1')).split('\n');
      rest = (lines.pop() ?? '').slice(-longestLine);
      for (const line of lines) {
        if (damaged.test(line)) damagedFrames += 1;
        if (line.includes('could not seek to position')) seekFailed = true;
      }
    },
    damagedFrames: () => damagedFrames,
    seekFailed: () => seekFailed,
  };
}
