-- What webhooks need of the log: where a job's end is announced, and which versions a team's secret has had.

ALTER TABLE read_model.jobs ADD COLUMN callback_url text;
CREATE INDEX jobs_to_announce ON read_model.jobs (finished_at)
  WHERE callback_url IS NOT NULL AND status <> 'processing';

-- Versions, never secrets. `seq` is that of the event in the team's chain.
CREATE TABLE read_model.webhook_secret_rotations (
  team_id    bigint      NOT NULL,
  seq        bigint      NOT NULL,
  version    uuid        NOT NULL,
  rotated_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, seq)
);
