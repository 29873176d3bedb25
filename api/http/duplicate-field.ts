/** A string with what makes it a field's name, or a bracket; all else in JSON text cannot hold either. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/gs;

/**
 * The path of the first field that an object in `json` has twice, dotted as in other errors; undefined when
 * there is none. JSON.parse keeps the last of them in silence, which a paid request must not be settled by.
 * `json` must be text that JSON.parse accepts.
 */
export function findDuplicateField(json: string): string | undefined {
  const open: { names: Set<string>; isList: boolean; current: string }[] = [];
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push({ names: new Set(), isList: token === '[', current: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const inner = open.at(-1);
      const name = String(JSON.parse(token.slice(0, -colon.length)));
      if (inner === undefined) return undefined;
      inner.current = name;
      if (inner.names.has(name)) return pathOf(open);
      inner.names.add(name);
    }
  }
  return undefined;
}

/** Where in a list it is does not help to find it, so lists have no part in the path. */
const pathOf = (open: readonly { isList: boolean; current: string }[]): string =>
  open
    .filter(({ isList }) => !isList)
    .map(({ current }) => current)
    .join('.');
