#!/bin/bash
# Makes the cluster and the database on the first start, then becomes the server.
set -euo pipefail

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "${POSTGRES_PASSWORD:-}" ]; then
    echo 'Set POSTGRES_PASSWORD: the superuser needs a password.' >&2
    exit 1
  fi
  # initdb in a folder beside: a container killed halfway starts over instead of serving half a cluster.
  staging=$PGDATA.new
  rm -rf "$staging"
  mkdir -p "$(dirname "$PGDATA")"
  initdb -D "$staging" --username="$user" --pwfile=<(printf '%s' "$POSTGRES_PASSWORD") \
    --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 > /dev/null
  echo 'host all all all scram-sha-256' >> "$staging/pg_hba.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "$database" | postgres --single -D "$staging" postgres > /dev/null
  fi
  mv "$staging" "$PGDATA"
fi

case ${1:-postgres} in -*) set -- postgres "$@" ;; esac
if [ "$1" = postgres ]; then
  shift
  # The server is found by its path: it looks for its share and lib folders from there.
  exec /usr/local/postgresql/bin/postgres -D "$PGDATA" -c listen_addresses='*' \
    -c unix_socket_directories=/var/run/postgresql "$@"
fi
exec "$@"
