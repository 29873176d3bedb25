import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChoiceRequest } from '#workers/clip/choose/choice-request.ts';
import { chooseClips } from '#workers/clip/choose/choose-clips.ts';
import type { ChosenClip, ChosenClips } from '#workers/clip/choose/chosen-clip.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import { SentenceEmbedder } from '#workers/media/text/sentence-embedder.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { plainRequestFor } from '../unit/clip/choose/plain-request.ts';
import type { Figure } from './analysis-quality.ts';
import { cutsInsideWords, mainCut, sentenceEdges, shownSegment, type TrueWord } from './choice-measures.ts';
import { keptAnalysis } from './kept-analysis.ts';
import { type Programme, readManifest, readTruth } from './media-manifest.ts';

const promptFile = z.object({
  files: z.record(z.string(), z.array(z.object({ segment: z.int(), prompt: z.string() }))),
});
const wordFile = z.object({
  files: z.record(z.string(), z.array(z.tuple([z.string(), z.number(), z.number()]))),
});

const styles = ['viral', 'business', 'general', 'gaming'] as const;
const clipsOfEach = 10;

const embedder = await SentenceEmbedder.open(await ModelStore.open());

/** Measures the choice of clips on the programmes of a media folder whose truth is known. */
export async function measureChoice(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const files = (await readManifest(folder))
    .map(({ file }) => file)
    .filter((file) => /\.(?:mp4|mkv|mov|webm)$/.test(file))
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)));
  const figures: Figure[] = [];
  for (const file of files) {
    const programme = await readTruth(join(folder, file));
    if (programme === undefined) continue;
    figures.push(...(await choiceFigures(file, await keptAnalysis(join(folder, file)), programme)));
  }
  return figures;
}

/** The same for one programme, whose analysis is at hand. */
export async function choiceFigures(
  file: string,
  analysis: SourceAnalysis,
  programme: Programme,
): Promise<readonly Figure[]> {
  return [
    ...(await promptFigures(file, analysis, programme)),
    ...(await clipFigures(file, analysis, programme)),
  ];
}

async function promptFigures(
  file: string,
  analysis: SourceAnalysis,
  programme: Programme,
): Promise<readonly Figure[]> {
  const { files } = promptFile.parse(await jsonBeside('choice-prompts.json'));
  const described = files[file] ?? [];
  const labels = described.map(({ segment }) => ({
    segment,
    prompt: programme.segments[segment]?.topic ?? '',
  }));
  const isTold = (segment: number): boolean => (programme.segments[segment]?.utterances.length ?? 0) > 0;
  const figures: Figure[] = [];
  for (const [how, prompts] of [
    ['by a description', described],
    ['by the label of the truth file', labels],
  ] as const) {
    const found = await answered(analysis, programme, prompts);
    const told = prompts.filter(({ segment }) => isTold(segment));
    const foundTold = told.filter(({ segment }) => found.has(segment)).length;
    const missed = prompts.filter(({ segment }) => !found.has(segment)).map(({ prompt }) => `"${prompt}"`);
    const what = `${file}: topics chosen ${how}`;
    const bar = how === 'by a description' ? '≥ 8 of 9' : '';
    figures.push({ what: `${what}, known transcript`, measured: `${foundTold} of ${told.length}`, bar });
    figures.push({
      what: `${what}, all voices`,
      measured: `${found.size} of ${prompts.length}`,
      bar: missed.join(', '),
    });
  }
  return figures;
}

/** The segments that the first clip shows when it is asked for by its prompt. */
async function answered(
  analysis: SourceAnalysis,
  programme: Programme,
  prompts: readonly { readonly segment: number; readonly prompt: string }[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const { segment, prompt } of prompts) {
    const { clips } = await choose(analysis, { prompt });
    const [clip] = clips;
    if (clip !== undefined && shownSegment(clip, programme, analysis.duration_ms) === segment)
      found.add(segment);
  }
  return found;
}

async function clipFigures(
  file: string,
  analysis: SourceAnalysis,
  programme: Programme,
): Promise<readonly Figure[]> {
  const chosen: ChosenClips[] = [];
  for (const style of styles) {
    chosen.push(await choose(analysis, { num_clips: clipsOfEach, style }));
    chosen.push(
      await choose(analysis, { num_clips: clipsOfEach, style, hook_length_seconds: 5, length_seconds: 20 }),
    );
  }
  const clips = chosen.flatMap((each) => each.clips);
  const heard = analysis.sound?.words ?? [];
  const { files } = wordFile.parse(await jsonBeside('word-times.json'));
  const known: readonly TrueWord[] = (files[file] ?? []).map(([, start, end]) => ({
    startMs: start * 1000,
    endMs: end * 1000,
  }));
  const inHeard = cutsInsideWords(
    clips,
    heard.map((word) => ({ startMs: word.start_ms, endMs: word.end_ms })),
    0,
  );
  const inKnown = cutsInsideWords(clips, known, 50);
  const { starts, ends } = sentenceEdges(clips, programme);
  const asked = chosen.length * clipsOfEach;
  return [
    { what: `${file}: clips found`, measured: `${clips.length} of ${asked}`, bar: 'all, or a shortfall' },
    { what: `${file}: cuts inside words as heard`, measured: String(inHeard.length), bar: '0' },
    {
      what: `${file}: cuts over 50 ms inside words as aligned`,
      measured: `${inKnown.length} of ${clips.length * 2}`,
      bar: '0',
    },
    {
      what: `${file}: starts with a sentence of the truth`,
      measured: `${starts.good} of ${starts.known}`,
      bar: '',
    },
    {
      what: `${file}: ends with a sentence of the truth`,
      measured: `${ends.good} of ${ends.known}`,
      bar: '',
    },
    {
      what: `${file}: seconds of clips without a length`,
      measured: durations(chosen.filter((_, at) => at % 2 === 0)),
      bar: '15 to 60',
    },
    {
      what: `${file}: seconds of clips of 20 with a hook of 5`,
      measured: durations(chosen.filter((_, at) => at % 2 === 1)),
      bar: '16 to 24',
    },
    {
      what: `${file}: teasers where a hook was asked for`,
      measured: teasers(chosen.filter((_, at) => at % 2 === 1)),
      bar: '',
    },
    { what: `${file}: titles of 3 to 10 words`, measured: titles(clips), bar: 'all' },
  ];
}

function durations(chosen: readonly ChosenClips[]): string {
  const seconds = chosen
    .flatMap(({ clips }) => clips)
    .map(({ cuts }) => cuts.reduce((sum, cut) => sum + cut.end_ms - cut.start_ms, 0) / 1000)
    .toSorted((a, b) => a - b);
  const at = (part: number): string => (seconds[Math.floor((seconds.length - 1) * part)] ?? 0).toFixed(1);
  return `${at(0)} to ${at(1)}, median ${at(0.5)}`;
}

function teasers(chosen: readonly ChosenClips[]): string {
  const clips = chosen.flatMap((each) => each.clips);
  const teased = clips.filter(({ hook }) => hook?.kind === 'teaser').length;
  return `${teased} of ${clips.length}`;
}

function titles(clips: readonly ChosenClip[]): string {
  const good = clips.filter(({ title }) => {
    const count = title.split(/\s+/).length;
    return count >= 3 && count <= 10;
  });
  return `${good.length} of ${clips.length}`;
}

async function choose(analysis: SourceAnalysis, over: Partial<ChoiceRequest>): Promise<ChosenClips> {
  const request: ChoiceRequest = { ...plainRequestFor('The programme.mp4'), ...over };
  const chosen = await chooseClips(analysis, request, { embedder });
  if (process.env['CHOICE_SHOW'] === '1') show(request, chosen);
  return chosen;
}

/** With CHOICE_SHOW=1 what was chosen, for eyes. */
function show(request: ChoiceRequest, { clips }: ChosenClips): void {
  process.stderr.write(`${request.prompt ?? request.style}\n`);
  for (const clip of clips) {
    const { start_ms, end_ms } = mainCut(clip);
    const times = `${(start_ms / 1000).toFixed(1)} to ${(end_ms / 1000).toFixed(1)}`;
    process.stderr.write(
      `  ${times} ${clip.hook?.kind ?? 'no hook'} ${clip.score.total} | ${clip.title} | ${clip.heading ?? ''}\n`,
    );
  }
}

async function jsonBeside(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));
}
