import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SwapContext } from '#workers/swap/contract.ts';
import { examineFaceImage } from '#workers/swap/examine-face-image.ts';
import { scanFaces } from '#workers/swap/scan-faces.ts';
import { stitch } from '#workers/swap/stitch.ts';
import { swapSegment } from '#workers/swap/swap-segment.ts';
import { swapWhole } from '#workers/swap/swap-whole.ts';
import { inSwapFolder, lines, makeMedia, psnr, sample, soundOf } from './swap-folder.ts';

const frameCount = 24;
/** Where the sample's first shot has its speaker is found by the plan; this corner never has a face. */
const corner = '160:120:0:0';

/** A second of the sample, half the size, with its sound; and a face image of another moment. */
async function media({ taskFolder }: SwapContext): Promise<{ videoPath: string; imagePath: string }> {
  const videoPath = join(taskFolder, 'source.mp4');
  const imagePath = join(taskFolder, 'face.png');
  await makeMedia(
    ...[
      '-ss',
      '3',
      '-i',
      sample,
      '-vf',
      'scale=640:-2,fps=25',
      '-frames:v',
      String(frameCount),
      '-t',
      '0.96',
    ],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '14', '-c:a', 'aac', videoPath],
  );
  await makeMedia('-ss', '5', '-i', sample, '-frames:v', '1', imagePath);
  return { videoPath, imagePath };
}

test('a video comes out with another face, all its frames, its sound untouched, and says what it is', async () => {
  await inSwapFolder(async (context, progress) => {
    const { videoPath, imagePath } = await media(context);
    const face = await examineFaceImage(imagePath, context);
    expect(face).toMatchObject({ image_width: 1280, image_height: 720 });
    const plan = await scanFaces(videoPath, context);
    expect(plan).toMatchObject({ frame_count: frameCount, timing: { kind: 'constant', rate: '25/1' } });
    const made = await swapWhole({ videoPath, imagePath, plan }, context);
    expect(made.report).toMatchObject({ engine: 'landmark', mode: 'face', frame_count: frameCount });
    expect(made.report.frames_swapped).toBeGreaterThan(frameCount * 0.9);
    const video = await lines(
      made.path,
      ...[
        '-select_streams',
        'v',
        '-show_entries',
        'stream=codec_name,profile,width,height,pix_fmt,r_frame_rate',
      ],
    );
    expect(video).toEqual([`h264,High,640,${plan.height},yuv420p,25/1`]);
    expect(await soundOf(made.path)).toBe(await soundOf(videoPath));
    expect((await lines(made.path, '-show_entries', 'format_tags=comment'))[0]).toMatch(/AI-generated/);
    const [box] = [plan.identity[0]];
    const [left = 0, top = 0, right = 0, bottom = 0] = [
      box?.left[0],
      box?.top[0],
      box?.right[0],
      box?.bottom[0],
    ];
    const inside = `${right - left}:${bottom - top}:${left}:${top}`;
    expect(await psnr(videoPath, made.path, inside)).toBeLessThan(35);
    expect((await stat(made.contactSheetPath)).size).toBeGreaterThan(1000);
    for (const stage of ['examining', 'scanning', 'swapping', 'checking'] as const) {
      const fractions = progress.filter((step) => step.stage === stage).map(({ fraction }) => fraction);
      expect(fractions.at(-1)).toBe(1);
      expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    }
  });
});

test('segments make the same video as a whole, frame for frame, with a label where one is wanted', async () => {
  await inSwapFolder(async (context) => {
    const { videoPath, imagePath } = await media(context);
    const plan = await scanFaces(videoPath, context);
    const segments = [];
    for (const { index } of plan.segments) {
      segments.push(await swapSegment({ videoPath, imagePath, plan, segment: index }, context));
    }
    const made = await stitch({ videoPath, plan, segments }, context);
    expect(made.report).toMatchObject({ mode: 'fullbody', frame_count: frameCount, frames_missed: 0 });
    expect(await soundOf(made.path)).toBe(await soundOf(videoPath));
    expect(await psnr(videoPath, made.path, corner)).toBeGreaterThan(40);
    const labelPlace = `300:40:0:${plan.height - 40}`;
    expect(await psnr(videoPath, made.path, labelPlace)).toBeLessThan(30);
  }, "AI: 100% 'swapped', [really]");
});

test('frames with times of their own keep them', async () => {
  await inSwapFolder(async (context) => {
    const { taskFolder } = context;
    const { imagePath } = await media(context);
    const videoPath = join(taskFolder, 'uneven.mkv');
    // Every third frame comes a frame later, and the picture lies on its side.
    await makeMedia(
      ...[
        '-ss',
        '3',
        '-i',
        sample,
        '-an',
        '-frames:v',
        '15',
        '-fps_mode',
        'passthrough',
        '-enc_time_base',
        '1:1000',
      ],
      ...[
        '-vf',
        'scale=480:-2,settb=1/1000,setpts=N*40+floor(N/3)*40',
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        videoPath,
      ],
    );
    const plan = await scanFaces(videoPath, context);
    expect(plan.timing.kind).toBe('variable');
    const made = await swapWhole({ videoPath, imagePath, plan }, context);
    const times = async (path: string): Promise<number[]> => {
      const found = await lines(path, '-select_streams', 'v', '-show_entries', 'frame=pts_time');
      return found.map((line) => Math.round(Number.parseFloat(line) * 1000));
    };
    const [before, after] = [await times(videoPath), await times(made.path)];
    expect(after.map((time) => time - (after[0] ?? 0))).toEqual(
      before.map((time) => time - (before[0] ?? 0)),
    );
  });
});

test('a video or an image without a face is refused with a sentence', async () => {
  await inSwapFolder(async (context) => {
    const [videoPath, imagePath] = [
      join(context.taskFolder, 'bars.mp4'),
      join(context.taskFolder, 'bars.png'),
    ];
    await makeMedia('-f', 'lavfi', '-i', 'testsrc=s=320x240:d=1', '-pix_fmt', 'yuv420p', videoPath);
    await makeMedia('-f', 'lavfi', '-i', 'testsrc=s=320x240', '-frames:v', '1', imagePath);
    await expect(scanFaces(videoPath, context)).rejects.toMatchObject({ code: 'NO_FACE', retryable: false });
    await expect(examineFaceImage(imagePath, context)).rejects.toMatchObject({ code: 'FACE_NOT_USABLE' });
    await expect(examineFaceImage(videoPath, context)).rejects.toMatchObject({ code: 'NOT_AN_IMAGE' });
  });
});
