import { fileURLToPath } from 'node:url';
import { ProcessFailed, runLimited } from '#infra/media/limited-process.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';

/** Speech and level over time, one value per window. */
export type SpeechActivity = {
  /** 0 to 1: how likely somebody speaks. */
  readonly probabilities: Float32Array;
  /** dBFS, -100 for digital silence. */
  readonly levels: Float32Array;
};

/** Silero's window at 16 kHz. */
export const samplesPerWindow = 512;
export const windowMs = 32;

const memoryBytes = 1.5 * 1024 ** 3;
/** A window takes 0.2 ms on one slow core: 4 hours in 90 s; shared cores may take four times that. */
const wallMsPerSecondOfSound = 40;
const startMs = 60_000;

/**
 * Finds speech in a file of 16 kHz mono PCM (s16le), in a child process: the model's native code must not
 * take the worker with it. Throws `MediaFailure`.
 */
export async function measureSpeech(sound: {
  readonly pcmPath: string;
  readonly durationMs: number;
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  readonly onFraction: (fraction: number) => void;
}): Promise<SpeechActivity> {
  const expectedBytes = Math.max(1, (sound.durationMs / windowMs) * 8);
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    await runLimited({
      tools: sound.tools,
      program: process.execPath,
      args: [fileURLToPath(new URL('speech-activity-main.ts', import.meta.url)), sound.pcmPath],
      cwd: sound.taskFolder,
      signal: sound.signal,
      limits: {
        wallMs: startMs + (sound.durationMs / 1000) * wallMsPerSecondOfSound,
        memory: { kind: 'data', bytes: memoryBytes },
        fileBytes: 1024 * 1024,
      },
      onStdout: (piece) => {
        pieces.push(piece);
        bytes += piece.length;
        sound.onFraction(Math.min(1, bytes / expectedBytes));
      },
    });
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    const detail = `${error.message}: ${error.stderrTail.slice(-1500)}`;
    throw new MediaFailure('TOOL_BROKEN', 'Listening for speech failed.', { cause: error, detail });
  }
  return unpack(Buffer.concat(pieces));
}

function unpack(bytes: Buffer): SpeechActivity {
  const count = Math.floor(bytes.length / 8);
  const probabilities = new Float32Array(count);
  const levels = new Float32Array(count);
  for (let window = 0; window < count; window += 1) {
    probabilities[window] = bytes.readFloatLE(window * 8);
    levels[window] = bytes.readFloatLE(window * 8 + 4);
  }
  return { probabilities, levels };
}
