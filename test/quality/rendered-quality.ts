import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { cameraModes } from '#workers/clip/camera/camera-plan.ts';
import type { PipelineContext, PlanOptions, RenderedClip } from '#workers/clip/contract.ts';
import { planClips, renderClip } from '#workers/clip/pipeline.ts';
import type { Figure } from './analysis-quality.ts';
import { keptAnalysis } from './kept-analysis.ts';
import { readManifest } from './media-manifest.ts';

/** Of each kind of video, the first is rendered in every camera mode. */
const shownKinds = ['video-talking-head', 'video-multi-speaker-split-screen', 'video-gaming', 'video-long'];
const lengthSeconds = 10;

/**
 * Renders a clip of several videos in every camera mode, with a heading and captions, and measures the results; their
 * contact sheets go into a folder that is named on standard error.
 */
export async function measureRendered(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const sheets = join(tmpdir(), 'clipledger-quality-sheets');
  await mkdir(sheets, { recursive: true });
  const figures: Figure[] = [];
  for (const file of await shownFiles(folder, only)) {
    for (const mode of cameraModes) {
      const options: PlanOptions = {
        ...plainClipOptions,
        camera_mode: mode,
        length_seconds: lengthSeconds,
        captions: { enabled: true, color: 'yellow', font: 'Montserrat' },
      };
      const name = `${basename(file, extname(file))}-${mode}`;
      figures.push(...(await rendered(join(folder, file), options, join(sheets, name))));
    }
  }
  process.stderr.write(`Contact sheets are in ${sheets}.\n`);
  return figures;
}

async function shownFiles(folder: string, only: readonly string[]): Promise<readonly string[]> {
  const videos = (await readManifest(folder)).filter(
    ({ file, kind }) => kind.startsWith('video-') && !file.startsWith('hostile/'),
  );
  if (only.length > 0) {
    return videos.map(({ file }) => file).filter((file) => only.some((part) => file.includes(part)));
  }
  return shownKinds.flatMap((start) => {
    const first = videos.find(({ kind }) => kind.startsWith(start));
    return first === undefined ? [] : [first.file];
  });
}

async function rendered(path: string, options: PlanOptions, sheetPath: string): Promise<readonly Figure[]> {
  const what = basename(sheetPath);
  const clip = await inFolder(async (context) => {
    const sourceName = { title: null, fileName: basename(path) };
    const plan = await planClips({ analysis: await keptAnalysis(path), sourceName, options }, context);
    const made = await renderClip({ sourcePath: path, plan, item: 0, musicPath: null }, context);
    await copyFile(made.contactSheetPath, `${sheetPath}.png`);
    await copyFile(made.sourceSheetPath, `${sheetPath}.source.png`);
    return made;
  });
  return figuresOf(what, clip);
}

function figuresOf(what: string, { report }: RenderedClip): readonly Figure[] {
  const loudness = report.loudness_lufs === null ? 'silent' : `${report.loudness_lufs.toFixed(1)} LUFS`;
  return [
    { what: `${what}: camera mode used`, measured: report.camera_mode, bar: '' },
    { what: `${what}: loudness`, measured: loudness, bar: '−14 ± 1 LUFS' },
    {
      what: `${what}: sound against picture`,
      measured: `${report.audio_minus_video_ms} ms`,
      bar: '−40 to 60 ms',
    },
  ];
}

async function inFolder<T>(work: (context: PipelineContext) => Promise<T>): Promise<T> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'quality-'));
  try {
    return await work({
      tools: await locateMediaTools({}, process.env['PATH'] ?? ''),
      taskFolder,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      maxSourceDurationMs: 4 * 3_600_000,
    });
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}
