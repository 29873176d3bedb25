-- What is not derived from the log, and so survives a rebuild of the read model.

CREATE SEQUENCE service.team_ids AS bigint START WITH 1;

-- Unlogged: after a crash of the database a window begins anew, which is cheaper than a WAL write per request.
CREATE UNLOGGED TABLE service.rate_limit_windows (
  key_id            uuid        PRIMARY KEY,
  window_started_at timestamptz NOT NULL,
  request_count     integer     NOT NULL,
  last_request_at   timestamptz NOT NULL
);
