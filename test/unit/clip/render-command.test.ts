import { describe, expect, test } from 'vitest';
import type { ProbedVideo } from '#infra/media/probe.ts';
import type { CameraPlan } from '#workers/clip/camera/camera-plan.ts';
import type { Cut } from '#workers/clip/choose/chosen-clip.ts';
import { measureArguments, renderArguments } from '#workers/clip/render-command.ts';
import type { RenderOrder } from '#workers/clip/render-order.ts';

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

const whole = { x: 0, y: 0, width: 1280, height: 720 };
const blurred = { kind: 'blurred', picture: whole } as const;

/** A camera that shows the same through all cuts. */
function still(cuts: readonly Cut[], layout: CameraPlan['scenes'][number]['layout'] = blurred): CameraPlan {
  return { mode: 'standard', scenes: cuts.map((cut) => ({ ...cut, layout })), notes: [] };
}

function clip(cuts: readonly Cut[], over: Partial<RenderOrder['clip']> = {}): RenderOrder['clip'] {
  return { cuts, hook: null, camera: still(cuts), ...over };
}

function order(over: Partial<RenderOrder> = {}, picture: Partial<ProbedVideo> = {}): RenderOrder {
  return {
    sourcePath: "/task/my source;$(id)'.mp4",
    source: {
      type: { kind: 'video', contentType: 'video/mp4', demuxer: 'mov' },
      durationMs: 60_000,
      video: { ...video, ...picture },
      audio: { index: 1, codec: 'aac', channels: 2, sampleRate: 48_000, startMs: 0, durationMs: 60_000 },
    },
    clip: clip([{ start_ms: 3_250, end_ms: 33_500 }]),
    overlays: { heading: null, captions: null, environment: {} },
    music: null,
    seek: 'index',
    measure: { source: { momentary: Array(50).fill(-23.1), peakDbfs: -20 }, music: null },
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
    expect(optionValue(args, '-t')).toBe('30.250');
    // 30.25 s are 906.6 frames of 29.97 a second: a clip holds whole ones.
    expect(graph(args)).toContain('trim=end_frame=907');
  });

  test('a cut at the very start needs no seek, which truncated files would fail', () => {
    const args = renderArguments(order({ clip: clip([{ start_ms: 0, end_ms: 9_000 }]) }));
    expect(args).not.toContain('-ss');
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
    expect(filters).toContain('gblur=sigma=14');
    expect(filters).toContain('overlay=x=(W-w)/2:y=(H-h)/2');
  });

  test('every cut is an input of its own, with guards, and plays one after the other', () => {
    const cuts = [
      { start_ms: 20_000, end_ms: 23_000 },
      { start_ms: 3_250, end_ms: 33_500 },
    ];
    const args = renderArguments(order({ clip: clip(cuts) }));
    expect(args.filter((arg) => arg === '-i')).toHaveLength(2);
    expect(args.filter((arg) => arg === '-protocol_whitelist')).toHaveLength(2);
    expect(args.flatMap((arg, index) => (arg === '-ss' ? [args[index + 1]] : []))).toEqual([
      '20.000',
      '3.250',
    ]);
    expect(graph(args)).toContain('[cut0][cut1]concat=n=2:v=1:a=0');
    expect(graph(args)).toContain('[heard0][heard1]concat=n=2:v=0:a=1');
    expect(graph(args)).not.toContain('fade=t=in:st=');
  });

  test('a teaser ends in a flash', () => {
    const cuts = [
      { start_ms: 20_000, end_ms: 23_003 },
      { start_ms: 3_000, end_ms: 33_000 },
    ];
    const hook = { kind: 'teaser', length_ms: 3_003 } as const;
    expect(graph(renderArguments(order({ clip: clip(cuts, { hook }) })))).toContain(
      "fade=t=in:st=3.003:d=0.25:c=white:enable='gte(t,3.003)'",
    );
  });

  test('a crop has no background', () => {
    const cuts = [{ start_ms: 0, end_ms: 9_000 }];
    const box = { x: 440, y: 0, width: 405, height: 720 };
    const camera = still(cuts, { kind: 'crop', path: [{ at_ms: 0, box }] });
    const filters = graph(renderArguments(order({ clip: clip(cuts, { camera }) })));
    expect(filters).toContain('crop=');
    expect(filters).toContain('scale=1080:1920');
    expect(filters).not.toContain('overlay');
  });

  test('the frames of the sheet come from the same decode', () => {
    const args = renderArguments(order());
    expect(graph(args)).toMatch(/select='eq\(n\\,\d+\)(\+eq\(n\\,\d+\)){11}'/);
    expect(args.at(-1)).toBe('file:source-frames.rgb');
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

  test('the first pass measures the sound of all cuts, the second turns it up by what was found', () => {
    const measuring = measureArguments(order());
    expect(graph(measuring)).toContain('[heard0]anull[spoken]');
    expect(graph(measuring)).toContain('ebur128');
    expect(graph(measuring)).not.toContain('scale=');
    expect(graph(renderArguments(order()))).toContain('[spoken]volume=9.10dB');
  });

  test('a source without sound gets silence', () => {
    const mute = order({ measure: { source: null, music: null } });
    const args = renderArguments({ ...mute, source: { ...mute.source, audio: null } });
    expect(graph(args)).toContain('anullsrc');
    expect(graph(args)).not.toContain('[0:1]');
  });

  test('the heading and the music are inputs after the cuts, each with guards of its own type', () => {
    const type = { kind: 'audio', contentType: 'audio/mpeg', demuxer: 'mp3' } as const;
    const music = { path: '/task/music', type };
    const heading = { file: 'heading.png', x: 100, y: 250, start_ms: 0, end_ms: 30_250 };
    const overlays = { heading, captions: 'captions.ass', environment: {} };
    const args = renderArguments(order({ music, overlays }));
    const inputs = args.flatMap((arg, index) => (arg === '-i' ? [args[index + 1]] : []));
    expect(inputs.slice(1)).toEqual(['file:heading.png', 'file:/task/music']);
    expect(args.filter((arg) => arg === '-protocol_whitelist')).toHaveLength(3);
    expect(graph(args)).toContain('[1:v]scale=');
    expect(graph(args)).toContain('ass=filename=captions.ass');
    expect(graph(args)).toContain('[2:a:0]');
    const measuring = measureArguments(order({ music, overlays }));
    expect(measuring.filter((arg) => arg === '-i')).toHaveLength(2);
    expect(graph(measuring)).toContain('[1:a:0]');
  });
});
