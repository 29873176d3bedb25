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

/** The route that takes `method` at `path` with one more part, such as an id that was left out. */
export const routeWithId = (
  { method, path }: Readonly<{ method: string; path: string }>,
  routes: readonly KnownRoute[],
): string | undefined =>
  routes.find(
    (route) =>
      route.methods.includes(method) &&
      /\/:\w+$/.test(route.path) &&
      matches([...path.split('/'), 'id'], route.path.split('/')),
  )?.path;

const matches = (segments: readonly string[], pattern: readonly string[]): boolean =>
  segments.length === pattern.length &&
  pattern.every((part, index) => {
    const segment = segments[index] ?? '';
    return part.startsWith(':') ? segment !== '' : part === segment;
  });
