const LONGEST = 255;

/** A client's name for its file, fit to be kept: no control characters, not too long; null for none. */
export function fileNameOf(sent: string | undefined): string | null {
  const name = (sent ?? '')
    .toWellFormed()
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST)
    .toWellFormed();
  return name === '' ? null : name;
}
