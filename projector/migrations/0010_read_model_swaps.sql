-- One row per job of the kind face_swap. `status` is that of the first terminal event, which
-- `terminal_event_id` names; the job itself is failed only once the refund is here too.
CREATE TABLE read_model.swaps (
  job_id            uuid        PRIMARY KEY,
  mode              text        NOT NULL,
  duration_seconds  integer     NOT NULL,
  status            text        NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  error             text,
  object_key        text,
  finished_at       timestamptz,
  terminal_event_id uuid,
  settlement        text        CHECK (settlement IN ('captured', 'refunded')),
  settled_at        timestamptz
);

-- How far a face swap is, never less than it was; null for other jobs, and once the job is finished.
ALTER TABLE read_model.jobs ADD COLUMN progress_percent integer;

-- The greatest that was heard of the job.
ALTER TABLE read_model.job_stages ADD COLUMN percent integer NOT NULL DEFAULT 0;
