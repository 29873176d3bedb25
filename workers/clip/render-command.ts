import { ffmpegArguments } from '#infra/media/ffmpeg-command.ts';
import { guardedInputOptions, inputUrl, progressOptions } from '#infra/media/run-ffmpeg.ts';
import { framesPerSecond, playedCuts } from './clip-timeline.ts';
import { cutInputs, type FfmpegInput } from './cut-inputs.ts';
import { outputFrameRate } from './frame-rate.ts';
import { overlayInputs } from './overlays/overlay-inputs.ts';
import { pictureGraph } from './picture-graph.ts';
import type { RenderOrder } from './render-order.ts';
import { measureChains, mixChains } from './sound/mix-graph.ts';
import { audioRate, soundMix, spokenChains } from './sound-graph.ts';

/** Beside the clip, in the task's folder: the source's frames for its sheet, raw RGB. */
export const lookFile = 'source-frames.rgb';

/** The one ffmpeg call that renders a clip. Pure: the same order gives the same arguments. */
export function renderArguments(order: RenderOrder): readonly string[] {
  const rate = outputFrameRate(order.source.video.framesPerSecond);
  const played = playedCuts(order.clip.cuts, rate);
  const inputs = clipInputs(order);
  const duration = ((played.at(-1)?.clipEndMs ?? 0) / 1000).toFixed(6);
  const graph = [
    pictureGraph(order, played, rate),
    ...spokenChains(order, played, rate),
    ...mixChains(soundMix(order, played, inputs.length - 1), order.measure),
  ];
  return ffmpegArguments((command) => {
    for (const { url, options } of inputs) command.input(url).inputOptions(...options);
    command
      .complexFilter(graph.join(';'))
      .output(order.outputPath)
      .outputOptions('-map', '[picture]', '-map', '[sound]', '-t', duration)
      .outputOptions('-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn')
      .outputOptions(...videoEncoding(rate), ...audioEncoding, '-movflags', '+faststart')
      .outputOptions('-f', 'mp4', ...progressOptions, ...reportEachFault)
      .output(`file:${lookFile}`)
      .outputOptions('-map', '[look]', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24');
  });
}

type SoundOrder = Pick<RenderOrder, 'sourcePath' | 'source' | 'seek' | 'clip' | 'music'>;

/** The first pass, over the very sound that the clip will have. Pure. */
export function measureArguments(order: SoundOrder): readonly string[] {
  const rate = outputFrameRate(order.source.video.framesPerSecond);
  const played = playedCuts(order.clip.cuts, rate);
  const inputs = [...cutInputs(order, order.clip.cuts), ...musicInputs(order.music)];
  const { chains, outputs } = measureChains(soundMix(order, played, inputs.length - 1));
  return ffmpegArguments((command) => {
    for (const { url, options } of inputs) command.input(url).inputOptions(...options);
    command.complexFilter([...spokenChains(order, played, rate), ...chains].join(';'));
    for (const label of outputs) {
      command.output('-').outputOptions('-map', `[${label}]`, '-vn', '-f', 'null');
    }
  });
}

/** The source once for each cut, what is drawn over it, and the music last. */
function clipInputs(order: SoundOrder & Pick<RenderOrder, 'overlays'>): readonly FfmpegInput[] {
  return [
    ...cutInputs(order, order.clip.cuts),
    ...overlayInputs(order.overlays),
    ...musicInputs(order.music),
  ];
}

function musicInputs(music: RenderOrder['music']): readonly FfmpegInput[] {
  return music === null ? [] : [{ url: inputUrl(music.path), options: guardedInputOptions(music.type) }];
}

/** Each damaged frame a line of its own, so that they can be counted. */
const reportEachFault = ['-v', 'repeat+info'] as const;

function videoEncoding(rate: string): string[] {
  const keyframes = String(Math.round(framesPerSecond(rate) * 2));
  return [
    ...['-c:v', 'libx264', '-profile:v', 'high', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'],
    ...['-maxrate', '12M', '-bufsize', '24M', '-g', keyframes, '-r', rate, '-fps_mode', 'cfr'],
    ...['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv'],
  ];
}

const audioEncoding = ['-c:a', 'aac', '-b:a', '160k', '-ar', String(audioRate), '-ac', '2'] as const;
