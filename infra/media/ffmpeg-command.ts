import ffmpeg, { type FfmpegCommand } from 'fluent-ffmpeg';

/**
 * The arguments of an ffmpeg call, put together by fluent-ffmpeg. The package is archived, so this is the
 * only module that knows it. It only builds: its own `run()` would probe the input in a second process
 * without our limits and whitelists, so `runFfmpeg` runs what is built here.
 */
export function ffmpegArguments(build: (command: FfmpegCommand) => void): readonly string[] {
  const command = ffmpeg({ logger: undefined });
  build(command);
  return command._getArguments();
}
