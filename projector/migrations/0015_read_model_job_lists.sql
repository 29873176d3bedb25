-- Pages of a team's jobs, newest first, with or without a kind or status: each page is read from its place in
-- an index, however many jobs come before it.
CREATE INDEX jobs_by_team_and_id ON read_model.jobs (team_id, created_at, job_id);
CREATE INDEX jobs_by_team_and_kind ON read_model.jobs (team_id, kind, created_at, job_id);
CREATE INDEX jobs_by_team_and_status ON read_model.jobs (team_id, status, created_at, job_id);
DROP INDEX read_model.jobs_by_team;
