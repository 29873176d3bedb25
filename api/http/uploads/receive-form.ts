import type { FastifyRequest } from 'fastify';
import { answers } from '../answers.ts';
import type { HttpService } from '../http-service.ts';
import type { FormReceipt, FormRules } from './received-form.ts';

/**
 * Reads a `multipart/form-data` body: each file streams to object storage while it is hashed and sniffed.
 * When the form is refused, nothing of it is left; afterwards `discard()` is the caller's to call.
 */
export async function receiveForm(
  _request: FastifyRequest,
  _rules: FormRules,
  _service: HttpService,
): Promise<FormReceipt> {
  return { refused: answers.uploadsNotAvailableYet };
}
