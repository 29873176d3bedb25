/** A gauge or counter without labels, as a process of the service tells it; its first value where it has labels. */
export async function readMetric(baseUrl: string, name: string): Promise<number> {
  const response = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`There is no metric ${name}.`);
  return Number(value);
}
