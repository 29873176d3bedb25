-- Derived from the log alone: `DROP SCHEMA read_model CASCADE` begins a rebuild. Money is integers of cents.

CREATE TABLE read_model.teams (
  team_id    bigint      PRIMARY KEY,
  name       text        NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE read_model.api_keys (
  key_id     uuid        PRIMARY KEY,
  team_id    bigint      NOT NULL,
  name       text        NOT NULL,
  prefix     text        NOT NULL,
  key_hash   bytea       NOT NULL UNIQUE,
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX api_keys_by_team ON read_model.api_keys (team_id, created_at);

-- `debited_cents` is gross: refunds do not lower it. `seq` and `hash` are the chain's newest.
CREATE TABLE read_model.wallets (
  team_id         bigint  PRIMARY KEY,
  balance_cents   bigint  NOT NULL,
  debited_cents   bigint  NOT NULL,
  refunded_cents  bigint  NOT NULL,
  captured_cents  bigint  NOT NULL,
  topped_up_cents bigint  NOT NULL,
  active          boolean NOT NULL,
  seq             bigint  NOT NULL,
  hash            bytea   NOT NULL
);

-- One row per wallet event; `type` is the event's name and `amount_cents` its signed effect on the balance.
-- A debit's `clip_id` is the first of its `item_count` clip ids, which lie `clip_id_step` apart;
-- a refund's or capture's `clip_id` is that of its own item.
CREATE TABLE read_model.wallet_transactions (
  team_id             bigint      NOT NULL,
  seq                 bigint      NOT NULL,
  event_id            uuid        NOT NULL UNIQUE,
  type                text        NOT NULL,
  amount_cents        bigint      NOT NULL,
  balance_after_cents bigint      NOT NULL,
  job_id              uuid,
  clip_id             bigint,
  debit_id            uuid,
  item                integer,
  item_count          integer,
  clip_id_step        integer,
  reference           text,
  reason              text,
  actor               text        NOT NULL,
  occurred_at         timestamptz NOT NULL,
  PRIMARY KEY (team_id, seq)
);
CREATE INDEX wallet_transactions_settlements ON read_model.wallet_transactions (job_id, item)
  WHERE item IS NOT NULL;

-- `status` is completed once every clip is terminal and every failed one is settled: a client that reads
-- completed also reads the refunds. `stage` is null from then on.
CREATE TABLE read_model.jobs (
  job_id      uuid        PRIMARY KEY,
  team_id     bigint      NOT NULL,
  kind        text        NOT NULL,
  status      text        NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  item_count  integer     NOT NULL,
  cost_cents  bigint      NOT NULL,
  debit_id    uuid        NOT NULL,
  created_at  timestamptz NOT NULL,
  deadline_at timestamptz NOT NULL,
  stage       text,
  finished_at timestamptz
);
CREATE INDEX jobs_by_team ON read_model.jobs (team_id, created_at);
CREATE INDEX jobs_unfinished_by_deadline ON read_model.jobs (deadline_at) WHERE status = 'processing';

-- `status` is that of the first terminal event, which `terminal_event_id` names.
CREATE TABLE read_model.clips (
  clip_id           bigint      PRIMARY KEY,
  job_id            uuid        NOT NULL,
  item              integer     NOT NULL,
  status            text        NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  title             text,
  heading           text,
  error             text,
  object_key        text,
  duration_ms       bigint,
  created_at        timestamptz NOT NULL,
  finished_at       timestamptz,
  terminal_event_id uuid,
  settlement        text        CHECK (settlement IN ('captured', 'refunded')),
  settled_at        timestamptz,
  UNIQUE (job_id, item)
);

-- The newest stage of jobs that are not completed. A stage can be read before its job is: topics have no
-- order among each other.
CREATE TABLE read_model.job_stages (
  job_id uuid PRIMARY KEY,
  stage  text NOT NULL
);

-- How far each partition is in these tables; written in the transaction that writes the rows.
CREATE TABLE read_model.projection_positions (
  topic       text    NOT NULL,
  partition   integer NOT NULL,
  next_offset bigint  NOT NULL,
  PRIMARY KEY (topic, partition)
);
