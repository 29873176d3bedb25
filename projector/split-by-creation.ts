/**
 * Splits the events of one partition in two: those that come before the creation of what they are about, and
 * the others. Written in the order early, creations, later, a batch has the effect of its events one by one.
 */
export function splitByCreation<Created, Event>(
  entries: readonly (Readonly<{ created: Created }> | Readonly<{ event: Event }>)[],
  idOf: { readonly created: (created: Created) => string; readonly event: (event: Event) => string },
): Readonly<{ early: readonly Event[]; created: readonly Created[]; later: readonly Event[] }> {
  const created = entries.flatMap((entry) => ('created' in entry ? [entry.created] : []));
  const toBeCreated = new Set(created.map(idOf.created));
  const early: Event[] = [];
  const later: Event[] = [];
  for (const entry of entries) {
    if ('created' in entry) toBeCreated.delete(idOf.created(entry.created));
    else (toBeCreated.has(idOf.event(entry.event)) ? early : later).push(entry.event);
  }
  return { early, created, later };
}
