/** A route as it was registered; `path` may hold `:parameters`. */
export type KnownRoute = Readonly<{ methods: readonly string[]; path: string }>;

/** The methods that a path can be asked with, sorted; none when there is no such path. */
export function allowedMethods(path: string, routes: readonly KnownRoute[]): readonly string[] {
  const segments = path.split('/');
  const methods = routes
    .filter((route) => matches(segments, route.path.split('/')))
    .flatMap(({ methods }) => methods);
  return [...new Set(methods)].sort();
}

const matches = (segments: readonly string[], pattern: readonly string[]): boolean =>
  segments.length === pattern.length &&
  pattern.every((part, index) => {
    const segment = segments[index] ?? '';
    return part.startsWith(':') ? segment !== '' : part === segment;
  });
