/**
 * The image's health check: exit code 0 when this container's process is ready. The api answers on `PORT`,
 * the other processes on `METRICS_PORT`.
 */
const limitMs = 2_500;
const ports = [process.env['PORT'], process.env['METRICS_PORT']].filter(
  (port): port is string => port !== undefined && port !== '' && port !== '0',
);

async function isReady(port: string): Promise<boolean> {
  const signal = AbortSignal.timeout(limitMs);
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal }).catch(() => undefined);
  return answer?.status === 200;
}

const answers = await Promise.all(ports.map(isReady));
process.exitCode = answers.includes(true) ? 0 : 1;

export {};
