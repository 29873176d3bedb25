import { alignmentHeadCount, type HeardTokens } from './speech-model.ts';

/** Moves of the best path: to the next token and frame, to the next token alone, to the next frame alone. */
const bothMoves = 0;
const tokenMoves = 1;

/**
 * At which feature frame each token, and then the end, begins to be said: the best path through the
 * attentions on which neither tokens nor time go backwards (dynamic time warping). Each head's attention
 * counts by how far it stands out at a frame among all tokens, so that heads that always look at the same
 * place say nothing. Pure.
 */
export function alignTokens(heard: Pick<HeardTokens, 'attentions' | 'frames'>): readonly number[] {
  const strengths = standOut(heard.attentions, heard.frames);
  return startsOnBestPath(strengths, heard.attentions.length, heard.frames);
}

/** [tokens * frames]: the mean over heads of the attention's z-score at a frame among all tokens. */
function standOut(attentions: readonly Float32Array[], frames: number): Float64Array {
  const count = attentions.length;
  const strengths = new Float64Array(count * frames);
  for (let column = 0; column < alignmentHeadCount * frames; column += 1) {
    let mean = 0;
    for (const row of attentions) mean += (row[column] as number) / count;
    let variance = 0;
    for (const row of attentions) variance += ((row[column] as number) - mean) ** 2 / count;
    const scale = 1 / (Math.sqrt(variance) + 1e-9) / alignmentHeadCount;
    const frame = column % frames;
    for (const [token, row] of attentions.entries()) {
      const at = token * frames + frame;
      strengths[at] = (strengths[at] as number) + ((row[column] as number) - mean) * scale;
    }
  }
  return strengths;
}

function startsOnBestPath(strengths: Float64Array, tokens: number, frames: number): readonly number[] {
  const width = frames + 1;
  const costs = new Float64Array((tokens + 1) * width).fill(Number.POSITIVE_INFINITY);
  const moves = new Uint8Array(costs.length);
  costs[0] = 0;
  for (let token = 1; token <= tokens; token += 1) {
    for (let frame = 1; frame <= frames; frame += 1) {
      const at = token * width + frame;
      const before = [costs[at - width - 1], costs[at - width], costs[at - 1]] as [number, number, number];
      const least = Math.min(...before);
      moves[at] = before.indexOf(least);
      costs[at] = least - (strengths[(token - 1) * frames + frame - 1] as number);
    }
  }
  const starts = new Array<number>(tokens).fill(0);
  for (let token = tokens, frame = frames; token > 0 && frame > 0; ) {
    starts[token - 1] = frame - 1;
    const move = moves[token * width + frame];
    if (move === bothMoves || move === tokenMoves) token -= 1;
    if (move !== tokenMoves) frame -= 1;
  }
  return starts;
}
