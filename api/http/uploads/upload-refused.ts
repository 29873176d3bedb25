import type { Answer } from '../answers.ts';

/** A form that is not taken, with the answer that says why: an error, as it has to end streams on its way. */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(String(answer.body['error']));
    this.answer = answer;
  }
}
