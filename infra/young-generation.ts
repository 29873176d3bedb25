import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Keeps the space for new objects at some 16 MiB. Node would let it double up to 128 MiB, which buys a process
 * that mostly waits for others little time and takes a third of the memory that it is promised to stay below.
 * The option for that, `--max-semi-space-size`, would have to be given by whoever starts the process.
 */
export function boundYoungGeneration(): void {
  const collections = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (young !== undefined && young.space_size < MAX_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    collections.disconnect();
  });
  collections.observe({ entryTypes: ['gc'] });
}
