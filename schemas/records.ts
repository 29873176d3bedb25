// Written by `npm run schemas` from the .avsc files; change those instead.

export type HeadingOptions = Readonly<{
  text: null | string;
  style: string;
  color: string;
  font: string;
  position: string;
  bg_color: string;
  instructions: null | string;
}>;

export type CaptionOptions = Readonly<{
  enabled: boolean;
  color: string;
  font: string;
}>;

/** What a clip job was asked for, defaults filled in. */
export type ClipOptions = Readonly<{
  video_url: null | string;
  /** An uploaded source in object storage. */
  video_object_key: null | string;
  video_file_name: null | string;
  num_clips: number;
  style: string;
  length_seconds: null | number;
  prompt: null | string;
  camera_mode: string;
  hook_length_seconds: null | number;
  auto_heading: boolean;
  heading: null | HeadingOptions;
  captions: null | CaptionOptions;
  music_url: null | string;
  music_object_key: null | string;
}>;

/** What a face swap was asked for, defaults filled in. */
export type FaceSwapOptions = Readonly<{
  video_url: null | string;
  /** An uploaded source in object storage. */
  video_object_key: null | string;
  face_image_url: null | string;
  /** An uploaded face image in object storage. */
  face_image_object_key: null | string;
  /** face or fullbody. */
  mode: string;
  /** What was billed: the video's length, rounded up. */
  duration_seconds: number;
}>;

export type Position = Readonly<{
  topic: string;
  partition: number;
  offset: number;
}>;

/** The team may pay for jobs from now on. */
export type BillingActivated = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** The team can make no requests until billing is active again. */
export type BillingDeactivated = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** One item of a charge is earned and can no longer be refunded; the balance stays. */
export type ChargeCaptured = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  amount_cents: number;
  debit_id: string;
  job_id: string;
  item: number;
  /** delivered, or waived where failed items are not refunded. */
  reason: string;
  cause_event_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** A ledger took over a partition. It is no wallet event: no seq, no chain. */
export type LedgerOwnerElected = Readonly<{
  election_id: string;
  partition: number;
  /** Of every topic keyed by team; it can never change. */
  partition_count: number;
  /** In how many lanes the partitions are owned: partition p in lane p modulo this; it can never change either. Null in elections from before there were lanes, when each partition was one. */
  lane_count: null | number;
  owner_id: string;
  elected_at: number;
}>;

/** A job was paid for. The event id is the debit id that captures and refunds name. */
export type WalletDebited = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  /** item_count times item_cents. */
  amount_cents: number;
  /** The balance after this event. */
  balance_cents: number;
  job_id: string;
  /** clip or face_swap. */
  kind: string;
  /** What can be refunded apart: the clips of a clip job, 1 for a face swap. */
  item_count: number;
  item_cents: number;
  /** The clip ids are this and the item_count - 1 after it, in steps of the partition count. */
  first_clip_id: null | number;
  /** Distance between the clip ids of the job. */
  clip_id_step: number;
  /** SHA-256 (hex) of the request, to tell a repeated request from another one under the same command id. */
  request_hash: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** A team got its wallet; the balance is 0 and billing is inactive. */
export type WalletOpened = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** A compensating event: one item of a charge came back. */
export type WalletRefunded = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  amount_cents: number;
  /** The balance after this event. */
  balance_cents: number;
  debit_id: string;
  job_id: string;
  item: number;
  reason: string;
  /** The job event that failed the item. */
  cause_event_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** Money came in. */
export type WalletToppedUp = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  amount_cents: number;
  /** The balance after this event. */
  balance_cents: number;
  /** The payment's id; it counts once per team. */
  reference: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** An API key was made; only its hash is kept. */
export type ApiKeyCreated = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  key_id: string;
  name: string;
  /** The first 8 characters, for display. */
  prefix: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  expires_at: null | number;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** An API key is revoked for good. */
export type ApiKeyRevoked = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  key_id: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** A team came into being. */
export type TeamCreated = Readonly<{
  /** Derived from the command, so that deciding twice gives the same id. */
  event_id: string;
  team_id: number;
  /** Gap-free per team in its topic, from 1. */
  seq: number;
  /** When the ledger decided. */
  occurred_at: number;
  /** Who caused it: key:<key id>, operator:<name> or system:<part>. */
  actor: string;
  command_id: string;
  name: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** From now on webhooks are signed with the secret of this version. */
export type WebhookSecretRotated = Readonly<{
  event_id: string;
  team_id: number;
  seq: number;
  occurred_at: number;
  actor: string;
  command_id: string;
  /** The secret itself derives from this and the master key; it is in no event. */
  version: string;
  /** The hash of this team's event before; zeros in the first. */
  prev_hash: Buffer;
  /** SHA-256 of this record's bytes as logged, up to this last field. */
  hash: Buffer;
}>;

/** A clip is ready in object storage. The first terminal event of a clip counts, later ones change nothing. */
export type ClipCompleted = Readonly<{
  event_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  occurred_at: number;
  /** Index of the clip in its job, from 0. */
  item: number;
  clip_id: number;
  title: string;
  heading: null | string;
  object_key: string;
  /** A contact sheet of the clip (PNG). */
  sheet_object_key: null | string;
  duration_ms: number;
  width: number;
  height: number;
  byte_size: number;
  source_start_ms: number;
  source_end_ms: number;
  /** What a person should know, such as a fallback that was used. */
  notes: readonly string[];
}>;

/** A clip failed for good. */
export type ClipFailed = Readonly<{
  event_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  occurred_at: number;
  /** Index of the clip in its job, from 0. */
  item: number;
  clip_id: number;
  /** A closed word, for machines. */
  code: string;
  /** A sentence for the client. */
  error: string;
}>;

/** A task that was given up, for an operator to look at or redrive. */
export type DeadTask = Readonly<{
  task_id: string;
  job_id: string;
  team_id: number;
  failed_at: number;
  attempts: number;
  code: string;
  reason: string;
  /** The task's record as it was. */
  task: Buffer;
}>;

/** Where a running job is; kept for an hour only. */
export type JobProgressed = Readonly<{
  job_id: string;
  team_id: number;
  occurred_at: number;
  stage: string;
  /** 0 to 1 of this stage. */
  fraction: number;
}>;

/** A paid job waits for its workers. */
export type JobRequested = Readonly<{
  event_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  occurred_at: number;
  actor: string;
  /** clip or face_swap. */
  kind: string;
  item_count: number;
  item_cents: number;
  first_clip_id: null | number;
  clip_id_step: number;
  /** Past this the job fails and is refunded. */
  deadline_at: number;
  clip: null | ClipOptions;
  face_swap: null | FaceSwapOptions;
  /** Where the job's end is announced. */
  callback_url: null | string;
}>;

/** Work for one worker: render one planned clip. */
export type RenderClipTask = Readonly<{
  /** Deterministic: <job id>/<item>. */
  task_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  item: number;
  clip_id: number;
  plan_object_key: string;
  source_object_key: string;
  requested_at: number;
  deadline_at: number;
  /** From 1. */
  attempt: number;
  clip: ClipOptions;
}>;

/** A face swap is finished and can be downloaded. */
export type SwapCompleted = Readonly<{
  event_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  occurred_at: number;
  object_key: string;
  /** The contact sheet. */
  sheet_object_key: null | string;
  /** landmark or neural. */
  engine: string;
  mode: string;
  duration_ms: number;
  /** In pixels. */
  width: number;
  /** In pixels. */
  height: number;
  byte_size: number;
  /** Frames of the video. */
  frame_count: number;
  /** Frames with a swapped face. */
  swapped_frame_count: number;
  /** What the client should know, such as which of several faces was used. */
  notes: readonly string[];
  /** Frames in which the face was seen but not well enough to be swapped. */
  missed_frame_count: null | number;
  /** Stretches of the video that were swapped. */
  segment_count: null | number;
}>;

/** A face swap will not be delivered; its whole charge is given back. */
export type SwapFailed = Readonly<{
  event_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  occurred_at: number;
  code: string;
  /** One sentence for the client. */
  error: string;
}>;

/** Work for one worker: swap the face in one segment of a planned video, or in all of it. */
export type SwapTask = Readonly<{
  /** Deterministic: <job id>/swap/<segment>, or <job id>/swap/whole. */
  task_id: string;
  job_id: string;
  team_id: number;
  debit_id: string;
  /** face or fullbody. */
  mode: string;
  /** Its number in the plan; null where one task swaps the whole video. */
  segment: null | number;
  plan_object_key: string;
  video_object_key: string;
  face_image_object_key: string;
  requested_at: number;
  deadline_at: number;
  /** From 1. */
  attempt: number;
}>;

/** Let the team pay. */
export type ActivateBilling = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
}>;

/** Add a key of which only the hash is known here. */
export type CreateApiKey = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  key_id: string;
  name: string;
  prefix: string;
  key_hash: Buffer;
  expires_at: null | number;
}>;

/** Open a team with its wallet. */
export type CreateTeam = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  name: string;
}>;

/** Stop the team from paying. */
export type DeactivateBilling = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
}>;

/** Charge the wallet and request the job, both or neither. */
export type RequestJob = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  job_id: string;
  kind: string;
  item_count: number;
  item_cents: number;
  request_hash: string;
  job_deadline_at: number;
  clip: null | ClipOptions;
  face_swap: null | FaceSwapOptions;
  /** Where the job's end is announced. */
  callback_url: null | string;
}>;

/** Revoke a key for good. */
export type RevokeApiKey = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  key_id: string;
}>;

/** Makes a new version of the team's webhook secret. */
export type RotateWebhookSecret = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  version: string;
}>;

/** Say how one item of a charge ended; the first word counts. */
export type SettleChargeItem = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  debit_id: string;
  job_id: string;
  item: number;
  /** completed, failed or waived. */
  outcome: string;
  reason: string;
  cause_event_id: string;
}>;

/** Add money; a repeated reference changes nothing. */
export type TopUpWallet = Readonly<{
  command_id: string;
  team_id: number;
  issued_at: number;
  /** Refused when the ledger gets to it later. */
  deadline_at: number;
  actor: string;
  amount_cents: number;
  reference: string;
}>;

/** The ledger's answer to one command. */
export type CommandReply = Readonly<{
  command_id: string;
  team_id: number;
  decided_at: number;
  /** accepted or refused. */
  outcome: string;
  /** The command was decided before; this is the first answer again. */
  replayed: boolean;
  /** The reason as one closed word. */
  refusal: null | string;
  required_cents: null | number;
  balance_cents: null | number;
  /** The first event that was written. */
  event_id: null | string;
  job_id: null | string;
  debit_id: null | string;
  first_clip_id: null | number;
  clip_id_step: null | number;
  item_count: null | number;
  amount_cents: null | number;
  key_id: null | string;
  /** What was written, for whoever waits until it is projected. */
  positions: readonly Position[];
}>;

/** A key the team has or had. */
export type ApiKeySnapshot = Readonly<{
  team_id: number;
  key_id: string;
  revoked: boolean;
}>;

/** A charge that is open, or young enough for its command to be repeated. */
export type ChargeSnapshot = Readonly<{
  team_id: number;
  debit_id: string;
  command_id: string;
  request_hash: string;
  job_id: string;
  kind: string;
  item_count: number;
  item_cents: number;
  first_clip_id: null | number;
  clip_id_step: number;
  debited_at: number;
  /** The balance after the debit. */
  balance_cents: number;
  /** One letter an item: o open, c captured, r refunded. */
  items: string;
}>;

/** A decided command that is no charge, for answering it again. */
export type CommandSnapshot = Readonly<{
  team_id: number;
  command_id: string;
  event_id: string;
  decided_at: number;
  key_id: null | string;
  amount_cents: null | number;
  balance_cents: null | number;
}>;

/** What belongs to a partition as a whole. */
export type PartitionSnapshot = Readonly<{
  partition: number;
  next_clip_counter: number;
  /** The ledger goes on here in wallet.commands: refusals leave no event, so nothing else says exactly what is decided. */
  next_command_offset: number;
}>;

/** A payment reference that has been counted. */
export type TopUpSnapshot = Readonly<{
  team_id: number;
  reference: string;
  event_id: string;
  amount_cents: number;
  balance_cents: number;
}>;

/** All that the ledger knows of a team but its charges, commands, references and keys. */
export type WalletSnapshot = Readonly<{
  team_id: number;
  name: string;
  active: boolean;
  balance_cents: number;
  debited_cents: number;
  refunded_cents: number;
  captured_cents: number;
  topped_up_cents: number;
  seq: number;
  hash: Buffer;
  team_seq: number;
  team_hash: Buffer;
}>;

export type RecordTypes = {
  BillingActivated: BillingActivated;
  BillingDeactivated: BillingDeactivated;
  ChargeCaptured: ChargeCaptured;
  LedgerOwnerElected: LedgerOwnerElected;
  WalletDebited: WalletDebited;
  WalletOpened: WalletOpened;
  WalletRefunded: WalletRefunded;
  WalletToppedUp: WalletToppedUp;
  ApiKeyCreated: ApiKeyCreated;
  ApiKeyRevoked: ApiKeyRevoked;
  TeamCreated: TeamCreated;
  WebhookSecretRotated: WebhookSecretRotated;
  ClipCompleted: ClipCompleted;
  ClipFailed: ClipFailed;
  DeadTask: DeadTask;
  JobProgressed: JobProgressed;
  JobRequested: JobRequested;
  RenderClipTask: RenderClipTask;
  SwapCompleted: SwapCompleted;
  SwapFailed: SwapFailed;
  SwapTask: SwapTask;
  ActivateBilling: ActivateBilling;
  CreateApiKey: CreateApiKey;
  CreateTeam: CreateTeam;
  DeactivateBilling: DeactivateBilling;
  RequestJob: RequestJob;
  RevokeApiKey: RevokeApiKey;
  RotateWebhookSecret: RotateWebhookSecret;
  SettleChargeItem: SettleChargeItem;
  TopUpWallet: TopUpWallet;
  CommandReply: CommandReply;
  ApiKeySnapshot: ApiKeySnapshot;
  ChargeSnapshot: ChargeSnapshot;
  CommandSnapshot: CommandSnapshot;
  PartitionSnapshot: PartitionSnapshot;
  TopUpSnapshot: TopUpSnapshot;
  WalletSnapshot: WalletSnapshot;
};

export type RecordName = keyof RecordTypes;

export type WalletRecords = {
  BillingActivated: BillingActivated;
  BillingDeactivated: BillingDeactivated;
  ChargeCaptured: ChargeCaptured;
  LedgerOwnerElected: LedgerOwnerElected;
  WalletDebited: WalletDebited;
  WalletOpened: WalletOpened;
  WalletRefunded: WalletRefunded;
  WalletToppedUp: WalletToppedUp;
};

export type TeamRecords = {
  ApiKeyCreated: ApiKeyCreated;
  ApiKeyRevoked: ApiKeyRevoked;
  TeamCreated: TeamCreated;
  WebhookSecretRotated: WebhookSecretRotated;
};

export type JobRecords = {
  ClipCompleted: ClipCompleted;
  ClipFailed: ClipFailed;
  DeadTask: DeadTask;
  JobProgressed: JobProgressed;
  JobRequested: JobRequested;
  RenderClipTask: RenderClipTask;
  SwapCompleted: SwapCompleted;
  SwapFailed: SwapFailed;
  SwapTask: SwapTask;
};

export type CommandRecords = {
  ActivateBilling: ActivateBilling;
  CreateApiKey: CreateApiKey;
  CreateTeam: CreateTeam;
  DeactivateBilling: DeactivateBilling;
  RequestJob: RequestJob;
  RevokeApiKey: RevokeApiKey;
  RotateWebhookSecret: RotateWebhookSecret;
  SettleChargeItem: SettleChargeItem;
  TopUpWallet: TopUpWallet;
};

export type ReplyRecords = {
  CommandReply: CommandReply;
};

export type StateRecords = {
  ApiKeySnapshot: ApiKeySnapshot;
  ChargeSnapshot: ChargeSnapshot;
  CommandSnapshot: CommandSnapshot;
  PartitionSnapshot: PartitionSnapshot;
  TopUpSnapshot: TopUpSnapshot;
  WalletSnapshot: WalletSnapshot;
};

export const recordNames = {
  wallet: [
    'BillingActivated',
    'BillingDeactivated',
    'ChargeCaptured',
    'LedgerOwnerElected',
    'WalletDebited',
    'WalletOpened',
    'WalletRefunded',
    'WalletToppedUp',
  ],
  team: ['ApiKeyCreated', 'ApiKeyRevoked', 'TeamCreated', 'WebhookSecretRotated'],
  job: [
    'ClipCompleted',
    'ClipFailed',
    'DeadTask',
    'JobProgressed',
    'JobRequested',
    'RenderClipTask',
    'SwapCompleted',
    'SwapFailed',
    'SwapTask',
  ],
  command: [
    'ActivateBilling',
    'CreateApiKey',
    'CreateTeam',
    'DeactivateBilling',
    'RequestJob',
    'RevokeApiKey',
    'RotateWebhookSecret',
    'SettleChargeItem',
    'TopUpWallet',
  ],
  reply: ['CommandReply'],
  state: [
    'ApiKeySnapshot',
    'ChargeSnapshot',
    'CommandSnapshot',
    'PartitionSnapshot',
    'TopUpSnapshot',
    'WalletSnapshot',
  ],
} as const;
