import type { ChosenClip, Cut } from '#workers/clip/choose/chosen-clip.ts';
import type { Programme } from './media-manifest.ts';

export type TrueWord = { readonly startMs: number; readonly endMs: number };

/** The stretch that a clip shows, without its teaser. */
export function mainCut(clip: ChosenClip): Cut {
  const cut = clip.cuts.at(-1);
  if (cut === undefined) throw new Error('A clip without a cut.');
  return cut;
}

/** The number of the programme's segment that fills most of a clip. */
export function shownSegment(clip: ChosenClip, programme: Programme, durationMs: number): number {
  const { start_ms, end_ms } = mainCut(clip);
  const shown = programme.segments.map(({ start }, at) => {
    const end = (programme.segments[at + 1]?.start ?? durationMs / 1000) * 1000;
    return Math.max(0, Math.min(end_ms, end) - Math.max(start_ms, start * 1000));
  });
  return shown.indexOf(Math.max(...shown));
}

/** The moments of clips' cuts that lie inside a word, by more than `slackMs` from both its ends. */
export function cutsInsideWords(
  clips: readonly ChosenClip[],
  words: readonly TrueWord[],
  slackMs: number,
): readonly number[] {
  const edges = clips.flatMap(({ cuts }) => cuts.flatMap((cut) => [cut.start_ms, cut.end_ms]));
  return edges.filter((edge) =>
    words.some((word) => word.startMs + slackMs < edge && edge < word.endMs - slackMs),
  );
}

type Edges = { readonly good: number; readonly known: number };

/** Farther from a known edge than this, it is another place. */
const nearMs = 1_200;
/** An edge stands a little outside its words. */
const slackMs = 400;

/**
 * How many clips start and end where sentences of the truth do, of those whose edge lies in a segment with a
 * known transcript that has full stops.
 */
export function sentenceEdges(
  clips: readonly ChosenClip[],
  programme: Programme,
): { readonly starts: Edges; readonly ends: Edges } {
  const places = programme.segments
    .filter(({ utterances }) => utterances.some(({ text }) => /[.?!]$/.test(text)))
    .flatMap(({ utterances }) =>
      utterances.map(({ start, end, text }, at) => ({
        startMs: start * 1000,
        endMs: end * 1000,
        // A number alone, such as a poem's, is a title.
        opens: at === 0 || /[.?!]$|^\d+$/.test(utterances[at - 1]?.text ?? ''),
        closes: at === utterances.length - 1 || /[.?!]$/.test(text),
      })),
    );
  const starts = clips
    .map((clip) => mainCut(clip).start_ms)
    .filter((ms) => places.some(({ startMs, endMs }) => startMs - slackMs <= ms && ms < endMs - slackMs));
  const ends = clips
    .map((clip) => mainCut(clip).end_ms)
    .filter((ms) => places.some(({ startMs, endMs }) => startMs + slackMs < ms && ms <= endMs + slackMs));
  return {
    starts: {
      good: starts.filter((ms) =>
        places.some(({ startMs, opens }) => opens && Math.abs(startMs - ms) <= nearMs),
      ).length,
      known: starts.length,
    },
    ends: {
      good: ends.filter((ms) => places.some(({ endMs, closes }) => closes && Math.abs(endMs - ms) <= nearMs))
        .length,
      known: ends.length,
    },
  };
}
