import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { Client } from 'pg';
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { type Engine, ImageFailure, pullImage } from '#infra/containers/engine.ts';
import { imageNames } from '#infra/containers/image-names.ts';
import { ImageProvider } from '#infra/containers/provide-image.ts';
import { buildServiceImage } from '#infra/containers/service-image.ts';
import { isKafkaServing } from '#infra/embedded/kafka-probe.ts';
import { findFreePort } from '#infra/embedded/ports.ts';
import { ApacheKafka, kafkaInsidePort } from './apache-kafka.ts';
import type { PlatformRequest } from './choose-platform.ts';
import { noHealthCheck } from './no-health-check.ts';
import {
  type ContainerHost,
  type PlatformBackEnd,
  type PlatformPart,
  platformLabel,
  runLabel,
  type S3Account,
  type ServerAddresses,
} from './platform.ts';
import { until } from './poll.ts';
import { goWithoutReaper } from './reaper.ts';
import { removePlatform, removeRun } from './remove-run.ts';

const serviceImage = 'clipledger:test';
/** Removes what a killed test run leaves; ours to name, as testcontainers pulls it without asking. */
const reaperImage = 'testcontainers/ryuk:0.14.0';
const startLimitMs = 240_000;
const logTailLength = 4_000;
const probeLimitMs = 2_000;
const s3Port = 7070;
const postgresUser = 'postgres';

type Servers = Readonly<Record<PlatformPart, StartedTestContainer>>;
type Ports = Readonly<Record<PlatformPart, number>>;
type Secrets = {
  readonly postgresPassword: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

/**
 * Starts Kafka, PostgreSQL and S3 as containers of one network. All
 * bear the label of the run; whatever goes wrong, nothing of this platform stays.
 */
export async function startContainerPlatform(
  engine: Engine,
  { runId, index, say }: Pick<PlatformRequest, 'runId' | 'index' | 'say'>,
): Promise<PlatformBackEnd> {
  const network = `clipledger-test-${runId}-${index}`;
  const labels = { [runLabel]: runId, [platformLabel]: network };
  try {
    const hasReaper = await prepareReaper(engine, say);
    const images = new ImageProvider(engine, say);
    await engine.createNetwork({ Name: network, Driver: 'bridge', Labels: labels });
    const secrets = makeSecrets();
    const ports = { kafka: await findFreePort(), postgres: await findFreePort(), s3: await findFreePort() };
    const start = { labels, network, ports, secrets };
    const starting = [
      images.provide('kafka').then(() => startKafka(start)),
      images.provide('postgres').then(() => startPostgres(start)),
      images.provide('s3').then(() => startS3(start)),
    ] as const;
    // Settled first: nothing may still be starting when a failure makes us clean up.
    await Promise.allSettled(starting);
    const [kafka, postgres, s3] = await Promise.all(starting);
    const containers = await containerHost(engine, { network, secrets, hasReaper });
    const servers: Servers = { kafka, postgres, s3 };
    const buildService = () => buildServiceImage(engine, images, serviceImage, say);
    return new ContainerPlatform({ engine, runId, servers, ports, secrets, containers, buildService });
  } catch (error) {
    await removePlatform(engine, network);
    throw error;
  }
}

type PlatformState = {
  readonly engine: Engine;
  readonly runId: string;
  readonly servers: Servers;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly containers: ContainerHost;
  readonly buildService: () => Promise<void>;
};

class ContainerPlatform implements PlatformBackEnd {
  readonly backEnd = 'containers';
  readonly containers: ContainerHost;
  readonly #state: PlatformState;
  #serviceImage: Promise<void> | undefined;

  constructor(state: PlatformState) {
    this.#state = state;
    this.containers = state.containers;
  }

  get servers(): ServerAddresses {
    const { ports, secrets } = this.#state;
    return {
      kafkaBrokers: `127.0.0.1:${ports.kafka}`,
      databaseUrl: postgresUrl(secrets, `127.0.0.1:${ports.postgres}`),
      s3: s3Account(secrets, `http://127.0.0.1:${ports.s3}`),
    };
  }

  async kill(part: PlatformPart): Promise<void> {
    await this.#container(part).kill({ signal: 'SIGKILL' });
  }

  async start(part: PlatformPart): Promise<void> {
    await this.#container(part).start();
    const { ports, secrets } = this.#state;
    await untilServing(part, ports, secrets);
  }

  provideServiceImage(): Promise<void> {
    this.#serviceImage ??= this.#state.buildService();
    return this.#serviceImage;
  }

  async stop(): Promise<void> {
    await removeRun(this.#state.engine, this.#state.runId);
  }

  #container(part: PlatformPart) {
    return this.#state.engine.getContainer(this.#state.servers[part].getId());
  }
}

/** testcontainers' reaper where its image can be had; without it our own sweeper does the work alone. */
async function prepareReaper(engine: Engine, say: (line: string) => void): Promise<boolean> {
  const present = await engine
    .getImage(reaperImage)
    .inspect()
    .then(
      () => true,
      () => false,
    );
  if (present) {
    say(`image ${reaperImage}: was present`);
    return true;
  }
  try {
    await pullImage(engine, reaperImage);
    say(`image ${reaperImage}: pulled`);
    return true;
  } catch (error) {
    if (!(error instanceof ImageFailure)) throw error;
    goWithoutReaper();
    say(`image ${reaperImage}: cannot be pulled; this run cleans up after itself`);
    return false;
  }
}

type StartOptions = {
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
};

async function startKafka({ labels, network, ports, secrets }: StartOptions): Promise<StartedTestContainer> {
  const container = await startTelling(
    'Kafka',
    new ApacheKafka(imageNames.kafka, ports.kafka).withNetworkMode(network).withLabels({ ...labels }),
  );
  await untilServing('kafka', ports, secrets);
  return container;
}

async function startPostgres({
  labels,
  network,
  ports,
  secrets,
}: StartOptions): Promise<StartedTestContainer> {
  const postgres = new PostgreSqlContainer(imageNames.postgres)
    .withDatabase('postgres')
    .withUsername(postgresUser)
    .withPassword(secrets.postgresPassword)
    .withCommand(['postgres', '-c', 'max_connections=200'])
    .withNetworkMode(network)
    .withNetworkAliases('postgres')
    .withLabels({ ...labels })
    .withExposedPorts({ container: 5432, host: ports.postgres })

    .withHealthCheck(noHealthCheck)
    .withWaitStrategy(Wait.forListeningPorts());
  const container = await startTelling('PostgreSQL', postgres);
  await untilServing('postgres', ports, secrets);
  return container;
}

async function startS3({ labels, network, ports, secrets }: StartOptions): Promise<StartedTestContainer> {
  const s3 = new GenericContainer(imageNames.s3)
    .withEnvironment({ ROOT_ACCESS_KEY: secrets.accessKeyId, ROOT_SECRET_KEY: secrets.secretAccessKey })
    .withCommand(['--quiet', 'posix', '/srv'])
    .withNetworkMode(network)
    .withNetworkAliases('s3')
    .withLabels({ ...labels })
    .withExposedPorts({ container: s3Port, host: ports.s3 })
    .withWaitStrategy(Wait.forHttp('/', s3Port).forStatusCodeMatching(() => true))
    .withStartupTimeout(startLimitMs);
  return startTelling('The S3 server', s3);
}

/** Starts a container; a failure tells the end of its log, which is gone with the container. */
async function startTelling(what: string, container: GenericContainer): Promise<StartedTestContainer> {
  let log = '';
  container.withLogConsumer((stream) => {
    stream.on('data', (chunk) => {
      log = `${log}${chunk}`.slice(-logTailLength);
    });
  });
  return container.start().catch((cause: unknown) => {
    throw new Error(`${what} did not start in its container. Its log ends:\n${log}`, { cause });
  });
}

/** Asks a server from outside, as its clients do. */
async function untilServing(part: PlatformPart, ports: Ports, secrets: Secrets): Promise<void> {
  await until(`${part} serves`, startLimitMs, async () => {
    switch (part) {
      case 'kafka':
        return (await isKafkaServing(ports.kafka, probeLimitMs)) || undefined;
      case 'postgres':
        return answersQuery(postgresUrl(secrets, `127.0.0.1:${ports.postgres}`));
      case 's3':
        return fetch(`http://127.0.0.1:${ports.s3}/`, { signal: AbortSignal.timeout(probeLimitMs) });
    }
  });
}

async function answersQuery(connectionString: string): Promise<true> {
  const client = new Client({ connectionString, connectionTimeoutMillis: probeLimitMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end();
  }
}

/**
 * How containers reach this machine: the network's gateway, which on Linux is an address of this machine;
 * with Docker Desktop it is not, and the name that Docker gives to the machine stands for it.
 */
async function containerHost(
  engine: Engine,
  {
    network,
    secrets,
    hasReaper,
  }: Pick<StartOptions, 'network' | 'secrets'> & { readonly hasReaper: boolean },
): Promise<ContainerHost> {
  const description = await engine.getNetwork(network).inspect();
  const gateway: string = description.IPAM?.Config?.[0]?.Gateway ?? '';
  const isOurs = await canListenOn(gateway);
  return {
    image: serviceImage,
    network,
    hasReaper,
    hostName: isOurs ? gateway : 'host.docker.internal',
    hostAddress: isOurs ? gateway : '0.0.0.0',
    inside: {
      kafkaBrokers: `kafka:${kafkaInsidePort}`,
      databaseUrl: postgresUrl(secrets, 'postgres:5432'),
      s3: s3Account(secrets, `http://s3:${s3Port}`),
    },
  };
}

function canListenOn(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}

function makeSecrets(): Secrets {
  const secret = () => randomBytes(18).toString('hex');
  return {
    postgresPassword: secret(),
    accessKeyId: `test${randomBytes(6).toString('hex')}`,
    secretAccessKey: secret(),
  };
}

const postgresUrl = (secrets: Secrets, host: string): string =>
  `postgres://${postgresUser}:${secrets.postgresPassword}@${host}/postgres`;

const s3Account = ({ accessKeyId, secretAccessKey }: Secrets, endpoint: string): S3Account => ({
  endpoint,
  region: 'us-east-1',
  accessKeyId,
  secretAccessKey,
});
