import { z } from 'zod';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { unlessMissing } from '#infra/object-storage/unless-missing.ts';

/** Why a clip looks as it does: what its plan says, and the pictures to see it by. */
export type ClipReasons = Readonly<{
  clip_id: number;
  plan: z.infer<typeof clipPlan>;
  report: z.infer<typeof report> | null;
  /** URLs of contact sheets, good for an hour. */
  sheets: Readonly<{ clip: string; source: string }>;
}>;

const clipPlan = z.object({
  title: z.string(),
  heading: z.string().nullable(),
  cuts: z.array(z.object({ start_ms: z.number(), end_ms: z.number() })),
  hook: z.object({ kind: z.string(), length_ms: z.number() }).nullable(),
  camera: z.object({
    mode: z.string(),
    scenes: z.array(z.object({ layout: z.object({ kind: z.string() }) })),
  }),
  captions: z.object({ pages: z.array(z.unknown()) }).nullable(),
  music: z.boolean(),
  score: z.object({ total: z.number(), parts: z.record(z.string(), z.number()) }),
  notes: z.array(z.string()),
});

const report = z.object({
  loudness_lufs: z.number().nullable(),
  words_captioned: z.number(),
  damaged_frames: z.number(),
});
const outcome = z.object({ report: report.optional() });

const maxPlanBytes = 16 * 1024 * 1024;
const sheetSeconds = 3_600;

/** What is kept of a finished clip's plan; undefined where nothing is, as of a clip that failed. */
export async function readClipReasons(
  storage: ObjectStorage,
  jobId: string,
  clipId: number,
): Promise<ClipReasons | undefined> {
  const key = (end: string): string => `results/${jobId}/${clipId}.${end}`;
  const plan = await readJson(storage, key('plan.json'));
  if (plan === undefined) return undefined;
  const ended = await readJson(storage, key('json'));
  const sheet = (end: string): Promise<string> =>
    storage.presignedGet({ key: key(end), fileName: `${clipId}.${end}`, expiresInSeconds: sheetSeconds });
  return {
    clip_id: clipId,
    plan: clipPlan.parse(plan),
    report: ended === undefined ? null : (outcome.parse(ended).report ?? null),
    sheets: { clip: await sheet('png'), source: await sheet('source.png') },
  };
}

async function readJson(storage: ObjectStorage, key: string): Promise<unknown> {
  const bytes = await unlessMissing(storage.getBytes(key, maxPlanBytes));
  return bytes && JSON.parse(bytes.toString('utf8'));
}

/** The reasons for people. Pure. */
export function describeReasons({ clip_id, plan, report: measured, sheets }: ClipReasons): readonly string[] {
  const { score, camera, hook, captions } = plan;
  const parts = Object.entries(score.parts).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  const layouts = [...new Set(camera.scenes.map(({ layout }) => layout.kind))].join(', ');
  const words = measured === null ? '' : `, ${measured.words_captioned} words`;
  return [
    `Clip ${clip_id}: ${plan.title}`,
    `  shows     ${plan.cuts.map((cut) => `${clock(cut.start_ms)} to ${clock(cut.end_ms)}`).join(', then ')}`,
    `  score     ${score.total.toFixed(2)} (${parts.join(', ')})`,
    ...(hook === null ? [] : [`  hook      ${hook.kind} of ${(hook.length_ms / 1000).toFixed(1)} s`]),
    `  camera    ${camera.mode}: ${camera.scenes.length} scenes (${layouts})`,
    ...(plan.heading === null ? [] : [`  heading   ${plan.heading}`]),
    ...(captions === null ? [] : [`  captions  ${captions.pages.length} pages${words}`]),
    ...(plan.music ? ['  music     at 30%'] : []),
    ...(measured?.loudness_lufs == null ? [] : [`  loudness  ${measured.loudness_lufs} LUFS`]),
    ...(measured === null || measured.damaged_frames === 0
      ? []
      : [`  damaged   ${measured.damaged_frames} frames of the source`]),
    ...plan.notes.map((note) => `  note      ${note}`),
    `  frames    ${sheets.clip}`,
    `  source    ${sheets.source}`,
  ];
}

function clock(ms: number): string {
  const tenths = Math.round(ms / 100);
  const seconds = String(Math.floor(tenths / 10) % 60).padStart(2, '0');
  return `${Math.floor(tenths / 600)}:${seconds}.${tenths % 10}`;
}
