import { readdirSync, readFileSync } from 'node:fs';

const intervalMs = 250;

/** Watches how much memory this process's descendants hold together (resident, Linux only). */
export function watchMemory(): { readonly stop: () => { readonly peakBytes: number } } {
  let peakBytes = 0;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, descendantsBytes(process.pid));
  }, intervalMs);
  return {
    stop: () => {
      clearInterval(timer);
      return { peakBytes };
    },
  };
}

function descendantsBytes(root: number): number {
  const children = new Map<number, { pid: number; bytes: number }[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const found = processOf(Number(name));
    if (found !== undefined) children.set(found.parent, [...(children.get(found.parent) ?? []), found]);
  }
  const total = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.bytes + total(child.pid), 0);
  return total(root);
}

/** A process that ends meanwhile is none. */
function processOf(pid: number): { pid: number; parent: number; bytes: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { pid, parent: field('PPid'), bytes: field('VmRSS') * 1024 };
  } catch {
    return undefined;
  }
}
