/** npm passes Ctrl-C on to a program that the terminal has told already: one press, not two. */
const samePressMs = 1_000;

/** Ctrl-C, `kill` and a closed terminal as one AbortSignal; a second press calls `onForce`. */
export function listenForStop(onForce: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const stop = () => {
    if (!controller.signal.aborted) {
      firstAt = performance.now();
      controller.abort();
    } else if (performance.now() - firstAt > samePressMs) onForce();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  return controller.signal;
}
