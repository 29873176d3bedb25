import { afterAll, beforeAll, describe } from 'vitest';
import { accountContract } from './account.ts';
import { authenticationContract } from './authentication.ts';
import { beyondContract } from './beyond.ts';
import { clipFilesContract } from './clip-files.ts';
import { clipStatusContract } from './clip-status.ts';
import { ContractSystem } from './contract-system.ts';
import { createClipContract } from './create-clip.ts';
import { docsCommandsContract } from './docs-commands.ts';
import { faceSwapContract } from './face-swap.ts';
import { httpErrorsContract } from './http-errors.ts';
import { idempotencyContract } from './idempotency.ts';

/**
 * The interface as its description has it, tried on the running service: what is taken, each boundary, what
 * is refused, with which status and in which words. Written from the description alone, not from the code.
 */

let opened: ContractSystem | undefined;
const system = (): ContractSystem => {
  if (opened === undefined) throw new Error('The service is not running.');
  return opened;
};
beforeAll(async () => {
  opened = await ContractSystem.open();
});
afterAll(() => opened?.close());

describe.concurrent('authentication', () => authenticationContract(system));
describe.concurrent('GET /v1/clip/{jobId}', () => clipStatusContract(system));
describe.concurrent('POST /v1/clip', () => createClipContract(system));
describe.concurrent('test, wallet and keys', () => accountContract(system));
describe.concurrent('Idempotency-Key', () => idempotencyContract(system));
describe.concurrent('HTTP', () => httpErrorsContract(system));
describe.concurrent('POST /v1/clip with files', () => clipFilesContract(system));
describe.concurrent('face swaps', () => faceSwapContract(system));
describe.concurrent('beyond the interface', () => beyondContract(system));
describe.concurrent('reference', () => docsCommandsContract(system));
