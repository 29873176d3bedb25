/** A string with what makes it a field's name, or a bracket; all else in JSON text cannot hold either. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/gs;

/** A field that no body may have: one that its object has before, or `__proto__`, which no schema sees. */
export type WrongField = Readonly<{ kind: 'twice' | 'never'; path: readonly string[] }>;

/**
 * The first wrong field of an object in `json`, with its path as in other errors; undefined when there is none.
 * `json` must be text that JSON.parse accepts.
 */
export function findWrongField(json: string): WrongField | undefined {
  const open: { names: Set<string>; isList: boolean; current: string }[] = [];
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push({ names: new Set(), isList: token === '[', current: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const inner = open.at(-1);
      const name = String(JSON.parse(token.slice(0, -colon.length)));
      if (inner === undefined) return undefined;
      inner.current = name;
      if (name === '__proto__') return { kind: 'never', path: pathOf(open) };
      if (inner.names.has(name)) return { kind: 'twice', path: pathOf(open) };
      inner.names.add(name);
    }
  }
  return undefined;
}

/** Where in a list it is does not help to find it, so lists have no part in the path. */
const pathOf = (open: readonly { isList: boolean; current: string }[]): readonly string[] =>
  open.filter(({ isList }) => !isList).map(({ current }) => current);
