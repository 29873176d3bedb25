import type pg from 'pg';
import type { Config } from '#infra/config.ts';
import type { Readiness } from '#infra/health-server.ts';
import type { Appender } from '#infra/kafka/appender.ts';
import type { Logger } from '#infra/log.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type { ProjectionWatch } from '#infra/postgres/projection-watch.ts';
import type { SourceAccess } from '#infra/sources/source-access.ts';
import type { LedgerClient } from '../ledger/ledger-client.ts';
import type { LogFreshness } from '../log-freshness.ts';
import type { RevokedKeys } from '../revoked-keys.ts';
import type { Turns } from './turns.ts';
import type { UploadGate } from './uploads/upload-gate.ts';

/** What the HTTP routes stand on. */
export type HttpService = Readonly<{
  config: Config;
  log: Logger;
  pool: pg.Pool;
  ledger: Pick<LedgerClient, 'submit'>;
  appender: Pick<Appender, 'append'>;
  watch: Pick<ProjectionWatch, 'waitFor' | 'isCaughtUp'>;
  freshness: LogFreshness;
  storage: Pick<ObjectStorage, 'presignedGet' | 'putSlowly' | 'getRange' | 'getToFile' | 'delete'>;
  uploads: UploadGate;
  sources: SourceAccess;
  /** Who may look at a source now. */
  probes: Turns;
  /** Whose uploaded face image may be examined now. */
  examinations: Turns;
  /** Revocations that may not be rows yet. */
  revokedKeys: RevokedKeys;
  /** Who may make a key now. */
  keyCreations: Turns;
  readiness: () => Promise<Readiness>;
  now: () => Date;
}>;

/** How long an answer waits for the rows of what it wrote; then it is given anyway. */
export const READ_YOUR_WRITES_LIMIT_MS = 1_000;
