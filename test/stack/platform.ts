/**
 * What the integration suite stands on: Kafka, PostgreSQL and S3, in containers or as the embedded stack.
 * Tests see only this; which of the two it is, they need not know.
 */

export type PlatformPart = 'kafka' | 'postgres' | 's3';

export type S3Account = {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

/** The three servers as one of their clients reaches them. */
export type ServerAddresses = {
  readonly kafkaBrokers: string;
  /** The superuser's, with the database `postgres`. */
  readonly databaseUrl: string;
  readonly s3: S3Account;
};

/** How the service runs as containers of its own image. */
export type ContainerHost = {
  readonly image: string;
  readonly network: string;
  /** Whether testcontainers can have its own reaper; it must be told where not, in each process that uses it. */
  readonly hasReaper: boolean;
  /** The name under which containers reach this machine, and the address on which it listens for them. */
  readonly hostName: string;
  readonly hostAddress: string;
  /** The servers as containers reach them. */
  readonly inside: ServerAddresses;
};

/** Everything that test files are told; plain data, because they run in processes of their own. */
export type PlatformDescription = {
  readonly backEnd: 'containers' | 'embedded';
  readonly runId: string;
  /** Logs and process ids of what tests start; removed at the end of the run. */
  readonly runFolder: string;
  readonly servers: ServerAddresses;
  readonly containers: ContainerHost | null;
  /** Where tests ask for what only the platform's own process can do. */
  readonly controlUrl: string;
};

/** A platform's back end, in the process that started it. */
export type PlatformBackEnd = {
  readonly backEnd: PlatformDescription['backEnd'];
  readonly servers: ServerAddresses;
  readonly containers: ContainerHost | null;
  /** kill -9. The data stay. */
  kill(part: PlatformPart): Promise<void>;
  /** Starts a killed part again under its old address; returns when it serves. */
  start(part: PlatformPart): Promise<void>;
  /** Builds the image of the service, once, when the first test needs it; nothing without containers. */
  provideServiceImage(): Promise<void>;
  stop(): Promise<void>;
};

/** Every container and network of a run carries this label with the run's id, and can be found by it. */
export const runLabel = 'clipledger.test-run';

/** Those of one of its platforms carry this one too, with the name of the platform's network. */
export const platformLabel = 'clipledger.test-platform';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's platform is asked for: its servers may still be starting. */
    platformUrl: string;
  }
}
