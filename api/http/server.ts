import { randomUUID } from 'node:crypto';
import multipart from '@fastify/multipart';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Histogram } from 'prom-client';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { metrics } from '#infra/metrics.ts';
import { DatabaseUnavailable } from '../database.ts';
import { LedgerUnavailable } from '../ledger/ledger-client.ts';
import { findKeyHolder } from '../read-keys.ts';
import { allowedMethods, type KnownRoute, routeWithId } from './allowed-methods.ts';
import { type Answer, answers } from './answers.ts';
import { type AuthenticationPorts, authenticate, type Principal } from './authentication.ts';
import { answerBrokenRequest, refusedHost, refuseTunnels } from './broken-requests.ts';
import { FailedAuthentications } from './failed-authentications.ts';
import { closeBehindHeldBody, holdBodies, letBodyCome } from './held-bodies.ts';
import type { HttpService } from './http-service.ts';
import { acceptJson, JSON_BODY_LIMIT_BYTES } from './json-body.ts';
import { countRequest, rateLimitHeaders } from './rate-limit.ts';
import { addReferenceRoutes } from './reference/reference-routes.ts';
import { RefusedBody } from './refused-body.ts';
import { limitRequests } from './request-deadline.ts';
import { addRoutes, sendAnswer } from './routes.ts';
import { lingerOverForm } from './uploads/linger.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** Uploads under way when the server closes have this long to end; then they are refused. */
const UPLOADS_DRAIN_MS = 4_000;
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 72_000;

const durations = new Histogram({
  name: 'clipledger_http_request_seconds',
  help: 'Duration of HTTP requests by route, method and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [metrics],
});

/** Who makes a request, once that is known. */
type Principals = WeakMap<FastifyRequest, Principal>;

/** The HTTP interface, not yet listening. `routes` gets every route that it has, once it is ready. */
export function buildServer(service: HttpService, routes: KnownRoute[] = []): FastifyInstance {
  const server: FastifyInstance = Fastify({
    loggerInstance: service.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: service.config.TRUST_PROXY,
    bodyLimit: JSON_BODY_LIMIT_BYTES,
    // Held by `limitRequests`, which lets uploads take longer.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Node would refuse without a body that says why.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    rewriteUrl: ({ url }) => decodableUrl(url ?? '/'),
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, _request, reply) => sendAnswer(reply, answerToError(error) ?? answers.internal),
    clientErrorHandler: answerBrokenRequest,
  });
  server.addHook('onRoute', ({ method, url }) => {
    routes.push({ methods: [method].flat(), path: url });
  });
  limitRequests(server.server, service.config.REQUEST_TIME_LIMIT);
  holdBodies(server.server);
  refuseTunnels(server.server);
  server.addHook('onRequest', (request, reply, done) => {
    const refused = refusedHost(request);
    if (refused === undefined) done();
    else sendAnswer(reply, refused);
  });
  server.addHook('onSend', async (request, reply, payload) => {
    closeBehindHeldBody(request, reply);
    return lingerOverForm(request, reply, payload);
  });
  server.addHook('preClose', async () => {
    setTimeout(() => service.uploads.stop(), UPLOADS_DRAIN_MS).unref();
  });
  ignoreBodies(server);
  const principals: Principals = new WeakMap();
  observeRequests(server, service, principals);
  server.setErrorHandler((error: FastifyError, request, reply) => {
    // Where nothing is, it does not matter what was sent there.
    const isOfClient = error.statusCode !== undefined && error.statusCode < 500;
    if (request.is404 && isOfClient) return sendAnswer(reply, answerUnrouted(request, routes));
    return answerError(error, request, reply);
  });
  server.setNotFoundHandler((request, reply) => sendAnswer(reply, answerUnrouted(request, routes)));
  addHealthRoutes(server, service);
  addReferenceRoutes(server, service.config);
  server.register(
    (v1, _options, done) => {
      addV1(v1, service, { routes, principals });
      done();
    },
    { prefix: '/v1' },
  );
  return server;
}

/** Everything below `/v1`, also what does not exist there, is behind the authentication. */
function addV1(
  v1: FastifyInstance,
  service: HttpService,
  { routes, principals }: Readonly<{ routes: readonly KnownRoute[]; principals: Principals }>,
): void {
  const ports = authenticationPorts(service);
  acceptBodies(v1);
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer | undefined> => {
    const admission = await authenticate(credentialsOf(request), ports);
    if (admission.standing !== undefined) reply.headers(rateLimitHeaders(admission.standing));
    if ('refused' in admission) return admission.refused;
    principals.set(request, admission.principal);
    // Before a body is read: that nothing is here must not depend on what was sent to it.
    return request.is404 ? answerUnrouted(request, routes) : refusedHeaders(request);
  };
  // Without `done` a refused request ends here for good. A promise would go on to the route once the answer's
  // stream ends, and it ends before the answer is complete where the client leaves.
  v1.addHook('onRequest', (request, reply, done) => {
    admit(request, reply).then((refused) => {
      if (refused === undefined) done();
      else sendAnswer(reply, refused);
    }, done);
  });
  v1.addHook('preParsing', (request, _reply, _payload, done) => {
    letBodyCome(request);
    done();
  });
  v1.setNotFoundHandler((request, reply) => sendAnswer(reply, answerUnrouted(request, routes)));
  addRoutes(v1, service, (request) => {
    const principal = principals.get(request);
    if (principal === undefined) throw new Error('A route was reached without authentication.');
    return principal;
  });
}

/** What no route can make sense of, whatever the body holds. */
function refusedHeaders({ headers, raw }: FastifyRequest): Answer | undefined {
  if ((raw.headersDistinct['idempotency-key']?.length ?? 0) > 1)
    return answers.brokenRequest('There is more than one Idempotency-Key header. Send one.');
  const coding = headers['content-encoding'];
  return coding === undefined || coding === 'identity' ? undefined : answers.unsupportedCoding;
}

function authenticationPorts(service: HttpService): AuthenticationPorts {
  const { pool, config, freshness, watch, revokedKeys, now } = service;
  return {
    findKeyHolder: async (keyHash) => {
      const holder = await findKeyHolder(pool, keyHash);
      const isRevoked = holder !== undefined && revokedKeys.has(holder.keyId);
      return isRevoked ? { ...holder, revokedAt: holder.revokedAt ?? now() } : holder;
    },
    countRequest: (keyId) => countRequest(pool, keyId, config.RATE_LIMIT_PER_MINUTE),
    isCurrent: async (teamId) => {
      const topic = teamId === undefined ? 'team.events' : 'wallet.events';
      // Without Kafka nothing can have been added since, so the rows are as true as they were.
      return (await freshness.check(topic, teamId?.toString())) !== 'behind';
    },
    isRebuilding: () => !watch.isCaughtUp(),
    failures: new FailedAuthentications(Date.now),
    now,
    zeroBalanceReads: config.ZERO_BALANCE_READS,
  };
}

function credentialsOf(request: FastifyRequest) {
  const header = request.headers['x-api-key'];
  return {
    apiKey: Array.isArray(header) ? header.join(', ') : header,
    isRead: request.method === 'GET' || request.method === 'HEAD',
    address: request.ip,
  };
}

/** Outside of `/v1` nothing takes a body, so none is looked at. */
function ignoreBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

function acceptBodies(v1: FastifyInstance): void {
  v1.removeAllContentTypeParsers();
  acceptJson(v1);
  v1.register(multipart);
}

function addHealthRoutes(server: FastifyInstance, service: HttpService): void {
  server.get('/health/live', () => ({ status: 'live' }));
  server.get('/health/ready', async (_request, reply) => {
    const { ready, reasons } = await service.readiness();
    const body = { status: ready ? 'ready' : 'not ready', reasons };
    return sendAnswer(reply, ready ? answers.ok(body) : answers.notReady(body));
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

function answerUnrouted(request: FastifyRequest, routes: readonly KnownRoute[]): Answer {
  const path = request.url.replace(/\?.*$/s, '');
  const { method } = request;
  const allowed = allowedMethods(path, routes);
  if (allowed.length === 0) return answers.unknownRoute;
  return answers.wrongMethod(method, allowed, routeWithId({ method, path }, routes));
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = answerToError(error) ?? answers.internal;
  const fields = { err: error, requestId: request.id, route: request.routeOptions.url };
  if (answer === answers.internal) request.log.error(fields, 'A request failed.');
  else if (answer === answers.unavailable)
    request.log.warn(fields, 'A request met a dependency that is down.');
  return sendAnswer(reply, answer);
}

/** What an error means to the client; undefined when it is a fault of ours. */
function answerToError(error: Error & { code?: string; statusCode?: number }): Answer | undefined {
  if (error instanceof DatabaseUnavailable || error instanceof LedgerUnavailable) return answers.unavailable;
  if (error instanceof KafkaUnavailable) return answers.unavailable;
  if (error instanceof RefusedBody) return error.answer;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answers.bodyTooLarge(JSON_BODY_LIMIT_BYTES);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answers.unsupportedContentType;
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return answers.brokenJson;
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return answers.brokenRequest('The body is not as long as its Content-Length says.');
    default:
      return error.statusCode === 400 ? answers.brokenRequest('The request cannot be read.') : undefined;
  }
}

/** Logs and measures by the route's pattern: paths and query strings may hold what must not be kept. */
function observeRequests(server: FastifyInstance, { log }: HttpService, principals: Principals): void {
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { method } = request;
    const status = reply.statusCode;
    durations.observe({ method, route, status }, reply.elapsedTime / 1_000);
    const { teamId, keyId } = principals.get(request) ?? {};
    const fields = {
      requestId: request.id,
      teamId,
      keyId,
      method,
      route,
      status,
      durationMs: Math.round(reply.elapsedTime),
    };
    log[route.startsWith('/v1') ? 'info' : 'debug'](fields, 'A request was answered.');
    done();
  });
}

/** A path whose escapes cannot be decoded is no route; escaped once more it is an unknown one like others. */
function decodableUrl(url: string): string {
  try {
    decodeURI(url.replace(/\?.*$/s, ''));
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}
