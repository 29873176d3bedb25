import { describe, expect, test } from 'vitest';
import type { ProbedVideo } from '#infra/media/probe.ts';
import {
  fittedSize,
  loudnessArguments,
  type RenderOrder,
  renderArguments,
} from '#workers/clip/render-command.ts';

const video: ProbedVideo = {
  index: 0,
  codec: 'h264',
  width: 1280,
  height: 720,
  displayWidth: 1280,
  displayHeight: 720,
  rotation: 0,
  framesPerSecond: 29.97,
  pixelFormat: 'yuv420p',
  hdr: null,
  colorMatrix: null,
  interlaced: false,
  startMs: 0,
  durationMs: 60_000,
};

function order(over: Partial<RenderOrder> = {}, picture: Partial<ProbedVideo> = {}): RenderOrder {
  return {
    sourcePath: "/task/my source;$(id)'.mp4",
    source: {
      type: { kind: 'video', contentType: 'video/mp4', demuxer: 'mov' },
      durationMs: 60_000,
      video: { ...video, ...picture },
      audio: { index: 1, codec: 'aac', channels: 2, sampleRate: 48_000, startMs: 0, durationMs: 60_000 },
    },
    cut: { start_ms: 3_250, end_ms: 33_500 },
    cameraMode: 'standard',
    seek: 'index',
    loudness: {
      input_i: '-23.10',
      input_tp: '-4.00',
      input_lra: '5.00',
      input_thresh: '-33.00',
      target_offset: '0.20',
    },
    outputPath: '/task/clip-0.mp4',
    ...over,
  };
}

const graph = (args: readonly string[]) => args[args.indexOf('-filter_complex') + 1] ?? '';
const optionValue = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];

describe('the render command', () => {
  test('guards come before the input, and its name stays one argument', () => {
    const args = renderArguments(order());
    const input = args.indexOf('-i');
    for (const guard of ['-protocol_whitelist', '-format_whitelist', '-f', '-max_pixels', '-max_streams']) {
      expect(args.indexOf(guard)).toBeGreaterThanOrEqual(0);
      expect(args.indexOf(guard)).toBeLessThan(input);
    }
    expect(args[input + 1]).toBe("file:/task/my source;$(id)'.mp4");
    expect(optionValue(args, '-format_whitelist')).toBe('mov,mp4,m4a,3gp,3g2,mj2');
  });

  test('the cut is sought and held exactly', () => {
    const args = renderArguments(order());
    expect(optionValue(args, '-ss')).toBe('3.250');
    expect(args.filter((arg) => arg === '30.250')).toHaveLength(2);
  });

  test('a cut at the very start needs no seek, which truncated files would fail', () => {
    expect(renderArguments(order({ cut: { start_ms: 0, end_ms: 9_000 } }))).not.toContain('-ss');
  });

  test('where seeking fails everything before the cut is decoded and dropped', () => {
    const args = renderArguments(order({ seek: 'decode' }));
    expect(args).not.toContain('-ss');
    expect(graph(args)).toContain('[0:0]trim=start=3.250,setpts=PTS-3.250/TB');
    expect(graph(args)).toContain('[0:1]atrim=start=3.250,asetpts=PTS-3.250/TB');
  });

  test('the encoding is what every player takes', () => {
    const args = renderArguments(order());
    expect(optionValue(args, '-c:v')).toBe('libx264');
    expect(optionValue(args, '-profile:v')).toBe('high');
    expect(optionValue(args, '-pix_fmt')).toBe('yuv420p');
    expect(optionValue(args, '-movflags')).toBe('+faststart');
    expect(optionValue(args, '-c:a')).toBe('aac');
    expect(optionValue(args, '-r')).toBe('30000/1001');
  });

  test('standard shows the whole picture before a blurred, darkened one', () => {
    const filters = graph(renderArguments(order()));
    expect(filters).toContain('scale=1080:608');
    expect(filters).toContain('gblur=sigma=6');
    expect(filters).toContain('overlay=x=(W-w)/2:y=(H-h)/2');
  });

  test('center-crop has no background', () => {
    const filters = graph(renderArguments(order({ cameraMode: 'center-crop' })));
    expect(filters).toContain('crop=');
    expect(filters).toContain('scale=1080:1920');
    expect(filters).not.toContain('overlay');
  });

  test('a source that is 9:16 already fills the clip in standard', () => {
    const args = renderArguments(
      order({}, { displayWidth: 720, displayHeight: 1280, width: 720, height: 1280 }),
    );
    expect(graph(args)).not.toContain('gblur');
  });

  test('HDR is tone-mapped, SDR is not', () => {
    expect(graph(renderArguments(order({}, { hdr: 'pq' })))).toContain('tonemap');
    expect(graph(renderArguments(order({}, { hdr: 'hlg' })))).toContain('color_trc=arib-std-b67');
    expect(graph(renderArguments(order()))).not.toContain('tonemap');
  });

  test('colours of small sources without a tag are read as BT.601, of large ones as BT.709', () => {
    expect(graph(renderArguments(order({}, { height: 480 })))).toContain('in_color_matrix=smpte170m');
    expect(graph(renderArguments(order()))).toContain('in_color_matrix=bt709');
  });

  test('interlaced sources are deinterlaced', () => {
    expect(graph(renderArguments(order({}, { interlaced: true })))).toContain('yadif');
  });

  test('the second pass of loudnorm takes what the first measured', () => {
    expect(graph(loudnessArguments(order()))).toContain('loudnorm=I=-14:TP=-1.5:LRA=11:print_format=json');
    expect(graph(renderArguments(order()))).toContain('measured_I=-23.10');
    expect(graph(renderArguments(order()))).toContain('linear=true');
  });

  test('silence is left alone, and a source without sound gets silence', () => {
    expect(graph(renderArguments(order({ loudness: 'silent' })))).not.toContain('loudnorm');
    const mute = order({ loudness: 'silent' });
    expect(graph(renderArguments({ ...mute, source: { ...mute.source, audio: null } }))).toContain(
      'anullsrc',
    );
  });
});

describe('the fitted size', () => {
  test.each([
    ['16:9', 1280, 720, 1080, 608],
    ['4:3', 640, 480, 1080, 810],
    ['square', 500, 500, 1080, 1080],
    ['9:16', 720, 1280, 1080, 1920],
    ['nearly 9:16', 722, 1280, 1080, 1920],
    ['taller', 500, 1280, 750, 1920],
    ['a thread', 16, 4096, 8, 1920],
    ['a line', 4096, 16, 1080, 4],
    ['a dot', 2, 2, 1080, 1080],
  ])('of %s', (_name, displayWidth, displayHeight, width, height) => {
    expect(fittedSize({ displayWidth, displayHeight })).toEqual({ width, height });
  });
});
