/** Kafka headers by the CloudEvents Kafka protocol binding, binary content mode (version 1.0.2). */
export type CloudEventHeaders = Readonly<Record<string, string>>;

/**
 * The headers of a record: `id` and `type` name the event, `source` who wrote it, `timeMs` when (epoch
 * milliseconds), `subject` what it is about. `correlationId` follows one request through all its records,
 * `causationId` is the command or event that led to this one.
 */
export function cloudEventHeaders(event: {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly timeMs: number;
  readonly subject: string;
  readonly correlationId?: string | undefined;
  readonly causationId?: string | undefined;
  readonly traceparent?: string | undefined;
}): CloudEventHeaders {
  return {
    'content-type': 'application/avro',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: `clipledger.${event.type}`,
    ce_source: `/clipledger/${event.source}`,
    ce_time: new Date(event.timeMs).toISOString(),
    ce_subject: event.subject,
    ...(event.correlationId === undefined ? {} : { correlation_id: event.correlationId }),
    ...(event.causationId === undefined ? {} : { causation_id: event.causationId }),
    ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
  };
}
