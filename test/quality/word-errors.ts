/** A reference word and the heard word that stands for it; one of them is missing where a word was added or lost. */
export type WordPair = { readonly reference: number | undefined; readonly heard: number | undefined };

const spelled: Readonly<Record<string, string>> = {
  mr: 'mister',
  '1': 'one',
  '2': 'two',
  '4': 'four',
  '7': 'seven',
  '9': 'nine',
  '10': 'ten',
  '15th': 'fifteenth',
};

/** Words as they are compared: lower case, no punctuation, small numbers in letters. */
export function comparableWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[-–—]/g, ' ')
    .split(/\s+/)
    .map((word) => word.replace(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '')
    .map((word) => spelled[word] ?? word);
}

/** The cheapest way from the reference to what was heard, each wrong, added or lost word costing one. */
export function alignWords(reference: readonly string[], heard: readonly string[]): readonly WordPair[] {
  const width = heard.length + 1;
  const costs = new Int32Array((reference.length + 1) * width);
  const cost = (row: number, column: number): number => costs[row * width + column] ?? 0;
  for (let row = reference.length; row >= 0; row -= 1) {
    for (let column = heard.length; column >= 0; column -= 1) {
      costs[row * width + column] = cheapest(row, column);
    }
  }
  function cheapest(row: number, column: number): number {
    if (row === reference.length) return heard.length - column;
    if (column === heard.length) return reference.length - row;
    const wrong = reference[row] === heard[column] ? 0 : 1;
    return Math.min(cost(row + 1, column + 1) + wrong, cost(row + 1, column) + 1, cost(row, column + 1) + 1);
  }
  const pairs: WordPair[] = [];
  for (let row = 0, column = 0; row < reference.length || column < heard.length; ) {
    const here = cost(row, column);
    const both = row < reference.length && column < heard.length;
    const wrong = reference[row] === heard[column] ? 0 : 1;
    if (both && here === cost(row + 1, column + 1) + wrong) {
      pairs.push({ reference: row, heard: column });
      row += 1;
      column += 1;
    } else if (row < reference.length && here === cost(row + 1, column) + 1) {
      pairs.push({ reference: row, heard: undefined });
      row += 1;
    } else {
      pairs.push({ reference: undefined, heard: column });
      column += 1;
    }
  }
  return pairs;
}

/** How many words are wrong, added or lost. */
export function wordErrors(reference: readonly string[], heard: readonly string[]): number {
  return alignWords(reference, heard).filter(
    (pair) =>
      pair.reference === undefined ||
      pair.heard === undefined ||
      reference[pair.reference] !== heard[pair.heard],
  ).length;
}
