/** Special tokens of the speech model. */
export const startToken = 1;
export const endToken = 2;

/** What SentencePiece writes for a space before a word. */
const spaceMark = Buffer.from('\u2581');

/** The pieces of text that a speech model's tokens stand for, as bytes: one character may take several tokens. */
export type TokenVocabulary = readonly Buffer[];

/**
 * Reads a table of tokens in the order of their numbers: each has its length before it, in one byte below 128,
 * else in two (low 7 bits first). Pure.
 */
export function parseVocabulary(table: Buffer): TokenVocabulary {
  const tokens: Buffer[] = [];
  for (let at = 0; at < table.length; ) {
    let length = table.readUInt8(at);
    at += 1;
    if (length >= 128) {
      length = table.readUInt8(at) * 128 + length - 128;
      at += 1;
    }
    tokens.push(table.subarray(at, at + length));
    at += length;
  }
  return tokens;
}

/** Whether a token begins a new word. */
export function beginsWord(token: Buffer): boolean {
  return token.subarray(0, spaceMark.length).equals(spaceMark);
}

/** The text of successive tokens, spaces for their marks; control tokens such as `<s>` have none. */
export function tokensText(tokens: readonly Buffer[]): string {
  const spoken = tokens.filter((token) => !/^<.+>$/.test(token.toString('latin1')));
  return Buffer.concat(spoken).toString('utf8').replaceAll('\u2581', ' ');
}
