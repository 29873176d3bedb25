/** A value that goes in a straight line from frame `from` on: `start + slope * (n - from)`. */
export type LinearPiece = { readonly from: number; readonly start: number; readonly slope: number };

/**
 * ffmpeg's expression of the frame number `n` for a line of many pieces, ascending by `from`; the first also
 * holds before its start. A balanced tree of conditions: however many pieces there are, a frame is decided by
 * a few comparisons and the parser's recursion stays shallow. Pure.
 */
export function frameExpression(pieces: readonly LinearPiece[]): string {
  const [first] = pieces;
  if (first === undefined) throw new Error('a line needs at least one piece');
  if (pieces.length === 1) return linear(first);
  const middle = Math.ceil(pieces.length / 2);
  const right = pieces.slice(middle);
  const border = shortNumber(right[0]?.from ?? 0, 2);
  return `if(lt(n,${border}),${frameExpression(pieces.slice(0, middle))},${frameExpression(right)})`;
}

function linear({ from, start, slope }: LinearPiece): string {
  const offset = shortNumber(start - slope * from, 3);
  if (Math.abs(slope) < 1e-6) return offset;
  return `(${offset}+n*${shortNumber(slope, 6)})`;
}

/** A number as filter graphs take it: never an exponent, no needless digits. Pure. */
export function shortNumber(value: number, digits = 3): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '').replace(/^-0$/, '0') : text;
}
