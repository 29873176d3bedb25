import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessGuard } from './guarded-processes.ts';
import { classArchiveFlags, keepClassArchive } from './java-archive.ts';
import type { JavaLibraries } from './java-libraries.ts';
import { isKafkaServing } from './kafka-probe.ts';
import { serverLogFile, withServerLog } from './server-log.ts';
import type { StackServer } from './stack-server.ts';

type KafkaOptions = {
  readonly dataDir: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly clusterId: string;
  readonly libraries: JavaLibraries;
  readonly guard: ProcessGuard;
  /**
   * Runs for long: with both compilers the start takes a few tenths of a second more, and the first minute
   * of load twice the processor time; after that a transaction costs the broker half of what it did.
   */
  readonly isLasting: boolean;
};

// The serial collector and the first compiler only: half the memory and the quickest start for one small broker.
const quickStart = ['-XX:TieredStopAtLevel=1'];
const javaFlags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'];
const loggerFlags = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS',
];
const probeLimitMs = 2_000;
const formatLimitMs = 60_000;

/**
 * One Apache Kafka process, broker and controller in one, on `<dataDir>/kafka`. As Kafka does by default it
 * leaves the flush of an append to the operating system: no kill of a process loses an acknowledged record,
 * but a power cut of this one machine may.
 */
export function kafkaServer(options: KafkaOptions): StackServer {
  const folder = join(options.dataDir, 'kafka');
  const propertiesFile = join(folder, 'server.properties');
  const logFile = serverLogFile(options.dataDir, 'kafka');
  const { archiveFolder, kafkaClassPath } = options.libraries;
  return {
    part: 'kafka',
    logFile,
    async prepare(onProgress) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Written at every start: a port may have moved, and listener and voters must follow.
      await writeFile(propertiesFile, kafkaProperties({ ...options, logDir: join(folder, 'log') }));
      if (!(await exists(join(folder, 'log')))) {
        onProgress('formatting the log');
        await formatLog(folder, options);
      }
    },
    isOurs: ({ commandLine }) => commandLine.endsWith(` kafka.Kafka ${propertiesFile}`),
    launch: () =>
      withServerLog(logFile, async (descriptor) => {
        const server = await options.guard.start({
          name: 'Kafka',
          command: 'java',
          args: [
            ...javaFlags,
            ...(options.isLasting ? [] : quickStart),
            ...(await classArchiveFlags(archiveFolder, 'kafka')),
            ...loggerFlags,
            ...['-cp', kafkaClassPath, 'kafka.Kafka', propertiesFile],
          ],
          options: { cwd: folder, stdio: ['ignore', descriptor, descriptor] },
          stopSignal: 'SIGTERM',
          stopLimitMs: 20_000,
        });
        void server.exited.then(() => keepClassArchive(archiveFolder, 'kafka'));
        return server;
      }),
    isServing: () => isKafkaServing(options.port, probeLimitMs),
  };
}

/** Formats beside and renames: a start killed in between formats again, and never a log with data in it. */
async function formatLog(folder: string, options: KafkaOptions): Promise<void> {
  const staging = join(folder, 'log.new');
  await rm(staging, { recursive: true, force: true });
  const stagingProperties = join(folder, 'format.properties');
  await writeFile(stagingProperties, kafkaProperties({ ...options, logDir: staging }));
  const classPath = options.libraries.kafkaClassPath;
  await promisify(execFile)(
    'java',
    [
      ...javaFlags,
      ...quickStart,
      '-cp',
      classPath,
      'kafka.tools.StorageTool',
      'format',
      // One word: an id may begin with a dash, and would be taken for an option.
      `--cluster-id=${options.clusterId}`,
      '-c',
      stagingProperties,
    ],
    { timeout: formatLimitMs },
  );
  await rm(stagingProperties);
  await rename(staging, join(folder, 'log'));
}

type KafkaProperties = { readonly port: number; readonly controllerPort: number; readonly logDir: string };

/** The broker's settings, one line each. */
export function kafkaProperties({ port, controllerPort, logDir }: KafkaProperties): string {
  return `${[
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    `log.dirs=${logDir}`,
    'auto.create.topics.enable=false',
    'num.partitions=1',
    'default.replication.factor=1',
    'min.insync.replicas=1',
    'offsets.topic.num.partitions=1',
    'offsets.topic.replication.factor=1',
    'transaction.state.log.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.num.partitions=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    // Eight megabytes are plenty for the compaction of one machine's topics; the default is 128.
    'log.cleaner.dedupe.buffer.size=8388608',
    // After kill -9 the broker may register again once its old session is over: 3 s instead of 9. Shorter,
    // and a busy machine's late heartbeat would fence a healthy broker.
    'broker.session.timeout.ms=3000',
    'broker.heartbeat.interval.ms=400',
    // A transaction that begins while the markers of the one before are being written is tried again after
    // this; they take a millisecond or two here, and the default of 20 would be most of a transaction.
    'add.partitions.to.txn.retry.backoff.ms=1',
    // Committed offsets of a stack that was off for long must still be there.
    'offsets.retention.minutes=525600',
    'transactional.id.expiration.ms=2147483647',
  ].join('\n')}\n`;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
