import { setTimeout as delay } from 'node:timers/promises';

const pauseMs = 250;

/** Watches a process of the service by its own metrics; `stop` gives the most memory it was seen with, in bytes. */
export function watchResidentMemory(baseUrl: string): { stop(): Promise<number> } {
  const stopping = new AbortController();
  let peakBytes = 0;
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      peakBytes = Math.max(peakBytes, await residentBytes(baseUrl));
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
      return peakBytes;
    },
  };
}

async function residentBytes(baseUrl: string): Promise<number> {
  const response = await fetch(`${baseUrl}/metrics`);
  const bytes = /^clipledger_process_resident_memory_bytes (\S+)$/m.exec(await response.text())?.[1];
  if (bytes === undefined) throw new Error(`${baseUrl} does not say how much memory it uses.`);
  return Number(bytes);
}
