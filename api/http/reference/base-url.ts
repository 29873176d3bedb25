import type { FastifyRequest } from 'fastify';
import type { Config } from '#infra/config.ts';

/** A name or address with a port and nothing else: it goes into commands that people paste into a shell. */
const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The service's address as a client sees it: the setting, or else where this request was sent to. */
export function baseUrlOf(
  request: Pick<FastifyRequest, 'protocol' | 'host'>,
  config: Pick<Config, 'PUBLIC_URL' | 'PORT'>,
): string {
  if (config.PUBLIC_URL !== undefined) return config.PUBLIC_URL.replace(/\/+$/, '');
  const { protocol, host } = request;
  if (!/^https?$/.test(protocol) || !hostPattern.test(host)) return `http://127.0.0.1:${config.PORT}`;
  return `${protocol}://${host}`;
}
