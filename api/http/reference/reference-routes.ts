import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Config } from '#infra/config.ts';
import { baseUrlOf } from './base-url.ts';
import { docsPage } from './docs-page.ts';
import { docsStyle } from './docs-style.ts';
import { escapeHtml } from './html.ts';
import { BASE_URL, openApiDocument } from './openapi-document.ts';
import { operations } from './operations.ts';

const styleHash = createHash('sha256').update(docsStyle).digest('base64');

/** The page has one style and nothing else that a browser could load or run. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `/openapi.json` and `/docs`: both are made once, and get the address of whoever asks. */
export function addReferenceRoutes(server: FastifyInstance, config: Config): void {
  const document = openApiDocument(operations);
  const json = JSON.stringify(document);
  const page = docsPage(document);
  server.get('/openapi.json', (request, reply) => {
    const address = JSON.stringify(baseUrlOf(request, config)).slice(1, -1);
    return reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
      .type('application/json; charset=utf-8')
      .send(json.replaceAll(BASE_URL, () => address));
  });
  server.get('/docs', (request, reply) => {
    const address = escapeHtml(baseUrlOf(request, config));
    return reply
      .headers({
        'content-security-policy': contentSecurityPolicy,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      })
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(BASE_URL, () => address));
  });
}
