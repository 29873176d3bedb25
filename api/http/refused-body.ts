import type { Answer } from './answers.ts';

/** A body that is not taken, with the answer that says why: an error, as it has to end parsers and streams on its way. */
export class RefusedBody extends Error {
  override readonly name = 'RefusedBody';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(String(answer.body['error']));
    this.answer = answer;
  }
}
