import { join, resolve } from 'node:path';
import { parseConfig } from '../config.ts';
import { describeOwner } from '../embedded/data-folder-lock.ts';
import { findFreePort } from '../embedded/ports.ts';
import { findRunningStack } from '../embedded/running-stack.ts';
import { embeddedParts } from '../start/provide-stack.ts';
import { roleNames } from '../start/role.ts';
import { startService } from '../start/service.ts';
import { listenForStop } from '../start/stop-signals.ts';
import { createNarrator, paint } from '../start/terminal.ts';
import { awaitClips, createClipJob, download, type FinishedClip, readWallet } from './clip-client.ts';
import { type DemoSource, openDemoSource } from './demo-source.ts';
import { makeDemoTeam } from './demo-team.ts';
import { createProgressLine } from './progress-line.ts';
import { describeResult, type KeptClip } from './result.ts';
import { runProgram } from './run-program.ts';

const help = `Usage: npm run demo [-- FILE-OR-URL]

Makes one paid clip, from nothing: starts Kafka, PostgreSQL, S3 and the service, makes a team with a key
and $20, orders a clip of the video (the sample in infra/sample without an argument), downloads it, and
shows the wallet and the audit's replay of it from Kafka. Everything it started is stopped at the end.

The clip, a contact sheet of its frames, data and logs are in .data/demo; DATA_DIR names another folder.
KAFKA_BROKERS, DATABASE_URL and S3_ENDPOINT use your own in place of the embedded ones: then the demo's
parts join your service, and a FILE can only be fetched by workers on this machine.
`;

const narrator = createNarrator();

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`\n${paint('red', 'The demo failed:')} ${error.message}\n`);
  return 1;
});

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    return 0;
  }
  if (args.length > 1) throw new Error('give one file or URL. See npm run demo -- --help.');
  const source = await openDemoSource(args[0]);
  try {
    return await runDemo(source);
  } finally {
    await source.close();
  }
}

/** Starts the service, runs the demo against it, and stops it whatever happened. */
async function runDemo(source: DemoSource): Promise<number> {
  const environment = await demoEnvironment(source);
  const config = parseConfig(environment);
  const dataDir = resolve(config.DATA_DIR);
  const running = embeddedParts(config).length > 0 && (await findRunningStack(dataDir));
  if (running) throw new Error(describeOwner(dataDir));
  const signal = listenForStop(() => {
    service.kill();
    process.exit(130);
  });
  const service = startService({ roles: roleNames, config, environment, narrator, signal });
  try {
    const started = await timed('service', 'all parts are ready', () => service.ready);
    try {
      return await makeClip({ source, dataDir, signal, service: started });
    } finally {
      await timed('service', 'everything is stopped', () => started.stop());
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    narrator.say('demo', 'interrupted; everything it started is stopped');
    return 130;
  }
}

/** Ports and data of its own, so that the demo runs beside `npm start`. */
async function demoEnvironment(source: DemoSource): Promise<Record<string, string | undefined>> {
  const allowed = [process.env['EGRESS_ALLOW'] ?? '', ...source.egressAllow].filter((entry) => entry !== '');
  return {
    ...process.env,
    DATA_DIR: process.env['DATA_DIR'] || join(import.meta.dirname, '../../.data/demo'),
    HOST: '127.0.0.1',
    PORT: String(await findFreePort()),
    EGRESS_ALLOW: allowed.join(','),
  };
}

type DemoRun = {
  readonly source: DemoSource;
  readonly dataDir: string;
  readonly signal: AbortSignal;
  readonly service: {
    readonly url: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
  };
};

/** What a customer does, and an auditor after him. */
async function makeClip({ source, dataDir, signal, service }: DemoRun): Promise<number> {
  const commands = { environment: service.environment, signal };
  const team = await timed('team', 'a team with a key and $20', () => makeDemoTeam(commands));
  const client = { baseUrl: service.url, apiKey: team.apiKey, signal };
  narrator.say('clip', `ordering one clip of ${source.description}`);
  const job = await createClipJob(client, source.url);
  narrator.say('clip', `job ${job.job_id}, paid ${job.cost_cents} cents`);
  const clips = await timed('clip', 'the job is done', () => awaitJob(client, job.job_id));
  const files = await Promise.all(clips.map((clip) => keepClip(clip, dataDir, commands)));
  const [wallet, replay] = await timed('audit', 'the wallet is replayed from Kafka', () =>
    Promise.all([
      readWallet(client),
      runProgram({
        program: 'projector/audit/main.ts',
        args: ['wallet', '--team', String(team.teamId), '--format', 'table'],
        ...commands,
      }),
    ]),
  );
  process.stdout.write(describeResult({ clips, files, wallet, replay }));
  return clips.every((clip) => clip.status === 'completed') ? 0 : 1;
}

async function awaitJob(
  client: Parameters<typeof awaitClips>[0],
  jobId: string,
): Promise<readonly FinishedClip[]> {
  const line = createProgressLine('clip');
  try {
    return await awaitClips(client, jobId, (progress) => line.show(progress));
  } finally {
    line.end();
  }
}

async function keepClip(
  clip: FinishedClip,
  folder: string,
  commands: { readonly environment: DemoRun['service']['environment']; readonly signal: AbortSignal },
): Promise<KeptClip | undefined> {
  const url = clip.download_url;
  if (url === undefined) {
    narrator.warn('clip', `failed and was refunded: ${clip.error ?? 'no reason was given'}`);
    return undefined;
  }
  const video = join(folder, `clip-${clip.clip_id}.mp4`);
  const contactSheet = join(folder, `clip-${clip.clip_id}.png`);
  await timed('clip', 'downloaded', () => download(url, video, commands.signal));
  const program = 'workers/media/contact-sheet-main.ts';
  await timed('clip', 'contact sheet made', () =>
    runProgram({ program, args: [video, contactSheet], ...commands }),
  );
  return { video, contactSheet };
}

/** Runs a step and says how long it took. */
async function timed<T>(subject: string, done: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  narrator.say(subject, `${done} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
  return result;
}
