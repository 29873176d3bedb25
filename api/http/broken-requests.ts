import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { metrics } from '#infra/metrics.ts';
import { type Answer, answers } from './answers.ts';

const brokenRequests = new Counter({
  name: 'clipledger_http_broken_requests_total',
  help: 'Connections that sent no readable HTTP request.',
  registers: [metrics],
});

/** No HTTP request could be read from the socket. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  brokenRequests.inc();
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else answerOnSocket(socket, answerToBrokenRequest(error.code));
}

/** A tunnel is asked for of proxies only; Node would close the connection without a word. */
export function refuseTunnels(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    answerOnSocket(socket, answers.brokenRequest('CONNECT is for proxies, and this is none.'));
  });
}

/** What makes it unclear whom a request is for, which Node would refuse without a body or pass over. */
export function refusedHost({ raw }: FastifyRequest): Answer | undefined {
  const hosts = raw.headersDistinct['host'] ?? [];
  if (hosts.length > 1) return answers.brokenRequest('There is more than one Host header. Send one.');
  if (hosts.length === 1 || raw.httpVersion === '1.0') return undefined;
  return answers.brokenRequest('The Host header is missing. HTTP/1.1 needs one.');
}

function answerToBrokenRequest(code: string | undefined): Answer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return answers.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return answers.headersTooLarge;
  return answers.brokenRequest('This is not a readable HTTP request.');
}

/** Where there is no response to write to, the answer is written by hand. */
function answerOnSocket(socket: Duplex, { status, body }: Answer): void {
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
