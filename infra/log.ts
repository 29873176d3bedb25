import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/**
 * The log of one process: JSON lines on stderr (stdout belongs to commands' answers), each with
 * `process`. Fields that could hold a secret are cut out whatever a caller passes.
 */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, processName: string): Logger {
  return pino(
    {
      level: config.LOG_LEVEL,
      base: { process: processName },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'apiKey',
          '*.apiKey',
          'password',
          '*.password',
          'secret',
          '*.secret',
          'headers["x-api-key"]',
          '*.headers["x-api-key"]',
        ],
        censor: '[redacted]',
      },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
