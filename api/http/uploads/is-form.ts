import type { FastifyRequest } from 'fastify';

/** Whether the request says that its body is a form with files. */
export const isForm = (request: FastifyRequest): boolean =>
  /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
