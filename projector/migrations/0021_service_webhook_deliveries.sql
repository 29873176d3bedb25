-- What was sent to whom. Not derived from the log: a rebuild of the read model sends nothing again.

-- One per job. `delivery_id` is the message's webhook-id and derives from the job's, so a message that is sent
-- again after a crash is known to be the same. `attempts` counts all, `attempts_in_schedule` those since the
-- schedule of retries last began. While an attempt runs, `claim_id` is its own and `claimed_until` when it is
-- given up for lost.
CREATE TABLE service.webhook_deliveries (
  delivery_id          uuid        PRIMARY KEY,
  job_id               uuid        NOT NULL UNIQUE,
  team_id              bigint      NOT NULL,
  kind                 text        NOT NULL,
  url                  text        NOT NULL,
  host                 text        NOT NULL,
  occurred_at          timestamptz NOT NULL,
  status               text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts             integer     NOT NULL DEFAULT 0,
  attempts_in_schedule integer     NOT NULL DEFAULT 0,
  next_attempt_at      timestamptz,
  claim_id             uuid,
  claimed_until        timestamptz,
  last_attempt_at      timestamptz,
  last_status_code     integer,
  last_error           text,
  delivered_at         timestamptz,
  created_at           timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);

CREATE INDEX webhook_deliveries_pending ON service.webhook_deliveries (team_id, host, next_attempt_at)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_due ON service.webhook_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_team ON service.webhook_deliveries (team_id, created_at, delivery_id);
CREATE INDEX webhook_deliveries_by_age ON service.webhook_deliveries (created_at);
