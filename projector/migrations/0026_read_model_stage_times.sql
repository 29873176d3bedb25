-- When a worker last said that the job is in its stage: one that nobody repeats any more is no news.
ALTER TABLE read_model.jobs ADD COLUMN stage_at timestamptz;
ALTER TABLE read_model.job_stages ADD COLUMN stage_at timestamptz;
