#!/bin/bash
# Writes server.properties from the KAFKA_* variables by the official image's rule (a.b-c is KAFKA_A_B___C,
# a_b is KAFKA_A__B), formats the log on the first start and becomes the broker.
set -euo pipefail

properties=/opt/kafka/config/server.properties
: > "$properties"
while IFS= read -r name; do
  case $name in
    KAFKA_HEAP_OPTS | KAFKA_OPTS | KAFKA_JVM_PERFORMANCE_OPTS | KAFKA_LOG4J_* | KAFKA_VERSION) continue ;;
  esac
  key=${name#KAFKA_}
  key=${key//___/-}
  key=${key//__/%}
  key=${key//_/.}
  key=${key//%/_}
  printf '%s=%s\n' "${key,,}" "${!name}" >> "$properties"
done < <(compgen -e | grep '^KAFKA_')
grep -q '^log.dirs=' "$properties" || echo 'log.dirs=/var/lib/kafka/data' >> "$properties"

jvm=(${KAFKA_HEAP_OPTS:--Xmx512m} ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC -XX:TieredStopAtLevel=1} ${KAFKA_OPTS:-}
  -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/libs/*')
java "${jvm[@]}" kafka.tools.StorageTool format --ignore-formatted \
  -t "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" -c "$properties"
exec java "${jvm[@]}" kafka.Kafka "$properties"
