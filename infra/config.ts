import { z } from 'zod';

/**
 * Every setting of the service, read once from the environment. Nothing else reads `process.env`
 * (child processes get theirs from here), so a typo or a gap stops the start with the whole list.
 */

const list = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .pipe(z.array(z.string()));

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const wholeNumber = z.string().regex(/^\d+$/, 'must be a whole number, 0 or more').transform(Number);
const positiveNumber = z
  .string()
  .regex(/^0*[1-9]\d*$/, 'must be a whole number, 1 or more')
  .transform(Number);

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `15m`, `2h` or `500ms` as milliseconds. */
const durationMs = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'must be a duration such as 90s, 15m or 2h')
  .transform((text) => Number.parseInt(text, 10) * (unitMs[text.replace(/^\d+/, '')] ?? 1));

const MASTER_KEY_BYTES = 32;

/** At least 32 bytes as hex or base64 (also the URL's alphabet); what can be read as hex is hex. */
const masterKey = z.string().transform((text, context) => {
  const key = Buffer.from(text, /^([0-9a-f]{2})+$/i.test(text) ? 'hex' : 'base64');
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && key.length >= MASTER_KEY_BYTES) return key;
  const message = `must be at least ${MASTER_KEY_BYTES} random bytes as base64 or hex, such as \`openssl rand -base64 ${MASTER_KEY_BYTES}\` prints`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const hostAndPort = /^[^\s:/]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/;

const settings = z.object({
  KAFKA_BROKERS: list.optional(),
  KAFKA_SSL: flag.default(false),
  KAFKA_SSL_CA_FILE: z.string().optional(),
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]*$/)
    .default(''),
  KAFKA_TOPIC_PROFILE: z.enum(['embedded', 'production']).default('embedded'),
  KAFKA_REPLICATION_FACTOR: positiveNumber.optional(),
  /** In how many lanes the ledger's partitions are owned; a log keeps the number that it began with. */
  LEDGER_LANES: positiveNumber.optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres://')
    .optional(),
  DATABASE_POOL_SIZE: positiveNumber.default(10),
  S3_ENDPOINT: z.url().optional(),
  S3_PUBLIC_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_BUCKET: z.string().default('clipledger'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_FORCE_PATH_STYLE: flag.default(true),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber.default(8080),
  METRICS_PORT: wholeNumber.default(0),
  PUBLIC_URL: z.url().optional(),
  TRUST_PROXY: flag.default(false),
  EGRESS_ALLOW: list.pipe(z.array(z.string().regex(hostAndPort, 'must be host:port entries'))).default([]),
  ZERO_BALANCE_READS: z.enum(['allow', 'deny']).default('deny'),
  REFUND_FAILED_CLIPS: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_PER_MINUTE: positiveNumber.default(60),
  /** Keys of a team that are neither revoked nor expired. */
  MAX_KEYS_PER_TEAM: positiveNumber.default(100),
  JOB_DEADLINE: durationMs.default(2 * 3_600_000),
  /** What the teams' webhook secrets derive from; the same in every api and for good. */
  WEBHOOK_MASTER_KEY: masterKey.optional(),
  WEBHOOK_TIMEOUT: durationMs.default(15_000),
  WORKER_CONCURRENCY: positiveNumber.default(2),
  SOURCE_MAX_BYTES: positiveNumber.default(2 * 1024 ** 3),
  MUSIC_MAX_BYTES: positiveNumber.default(100_000_000),
  /** A request that is not an upload has to arrive within this. */
  REQUEST_TIME_LIMIT: durationMs.default(30_000),
  /** An upload has to go on arriving within this, and to be whole within the other. */
  UPLOAD_IDLE_LIMIT: durationMs.default(30_000),
  UPLOAD_TIME_LIMIT: durationMs.default(2 * 3_600_000),
  UPLOADS_AT_ONCE: positiveNumber.default(16),
  /** Of those: fewer, so that one team cannot keep out all others. */
  UPLOADS_PER_TEAM: positiveNumber.default(10),
  SOURCE_MAX_DURATION: durationMs.default(4 * 3_600_000),
  FACE_SWAP_MAX_BYTES: positiveNumber.default(500_000_000),
  FACE_SWAP_MAX_DURATION: durationMs.default(300_000),
  /** `neural` needs models of the operator's own in MODELS_DIR. */
  SWAP_ENGINE: z.enum(['landmark', 'neural']).default('landmark'),
  /** Drawn small into the lower left corner of swapped videos. */
  SWAP_LABEL: z.string().max(60).optional(),
  /** That the operator's use of the neural engine's models is licensed. */
  SWAP_MODELS_LICENCE_ACKNOWLEDGED: flag.default(false),
  /** How long finding out a video's length may take. */
  PROBE_TIME_LIMIT: durationMs.default(60_000),
  FFMPEG_PATH: z.string().optional(),
  FFPROBE_PATH: z.string().optional(),
  YT_DLP_VENV: z.string().optional(),
  /** Where programs are looked for. */
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
  DATA_DIR: z.string().default('.data'),
  WORK_DIR: z.string().optional(),
  /** A folder with a MANIFEST.json and models of the operator's own; they go before the bundled ones. */
  MODELS_DIR: z.string().optional(),
  SPEECH_MODEL: z
    .string()
    .regex(
      /^(moonshine-tiny-en|whisper:[A-Za-z0-9_-][A-Za-z0-9._-]*)$/,
      'must be moonshine-tiny-en, or whisper:FOLDER for a model in that folder of MODELS_DIR',
    )
    .default('moonshine-tiny-en'),
  /** What Whisper is to listen for; without it, it tells the language itself. */
  SPEECH_LANGUAGE: z
    .string()
    .regex(/^[a-z]{2,3}$/, 'must be a code such as de')
    .optional(),
  /** A folder with fonts of the operator's own, for headings and captions; they go before the bundled ones. */
  FONTS_DIR: z.string().optional(),
  /** A server that speaks OpenAI's chat protocol, up to before `/chat/completions`; it then chooses the clips. */
  LLM_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  LLM_MODEL: z.string().optional(),
  LLM_API_KEY: z.string().optional(),
  /** For all questions of one job. */
  LLM_TIME_LIMIT: durationMs.default(5 * 60_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

/** A language model is an address and a name: one alone is a mistake, not a model switched off. */
function needsBoth(config: z.infer<typeof settings>, context: z.RefinementCtx): void {
  const { LLM_BASE_URL: url, LLM_MODEL: model } = config;
  if ((url === undefined) === (model === undefined)) return;
  const missing = url === undefined ? 'LLM_BASE_URL' : 'LLM_MODEL';
  context.addIssue({
    code: 'custom',
    path: [missing],
    message: 'must be set together with the other LLM_ setting',
  });
}

export type Config = Readonly<z.infer<typeof settings>>;

/** The settings are wrong: `message` lists every one of them with what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * The service's settings out of `env` (usually `process.env`). Empty values count as absent.
 * Durations become milliseconds, lists become arrays. Throws `ConfigError` naming each wrong setting.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = settings.superRefine(needsBoth).safeParse(given);
  if (parsed.success) return Object.freeze(parsed.data);
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`These settings are wrong:\n${lines.join('\n')}`);
}
