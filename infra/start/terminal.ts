import { styleText } from 'node:util';

/** Progress for the person at the terminal: one line each on stderr, in colour only where it is a terminal. */
export type Narrator = {
  /** Something goes on or is done. */
  say(subject: string, message: string): void;
  /** Something went wrong, and what comes of it. */
  warn(subject: string, message: string): void;
};

/** Speaks on stderr: stdout belongs to the command's answer. */
export function createNarrator(): Narrator {
  const write = (line: string) => process.stderr.write(`${line}\n`);
  return {
    say: (subject, message) => write(`${paint('dim', subject.padEnd(9))} ${message}`),
    warn: (subject, message) => write(`${paint('yellow', subject.padEnd(9))} ${message}`),
  };
}

/** `text` in colour where stderr is a terminal that has colours. */
export function paint(style: 'dim' | 'yellow' | 'red' | 'green' | 'bold', text: string): string {
  return styleText(style, text, { stream: process.stderr });
}
