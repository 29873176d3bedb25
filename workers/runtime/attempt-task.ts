import type { Logger } from '#infra/log.ts';
import type { Cancellations } from './cancellations.ts';
import { afterFailure, outageDelayMs, type TaskHistory, untried, withFailure } from './retry-policy.ts';
import { classifyFailure, missedDeadline, type Subject, type TaskFailure } from './task-failure.ts';
import { finished, type Verdict } from './task-lane.ts';

/** A task as its attempts see it. */
export type Work = Readonly<{
  /** What is made, for sentences about its failure; a clip unless it is said. */
  subject?: Subject;
  deadlineAtMs: number;
  /** Does the work and says so in the log; repeating it is harmless. */
  perform: (signal: AbortSignal) => Promise<void>;
  /** Says in the log that the work has failed for good. */
  giveUp: (end: GivenUp, signal: AbortSignal) => Promise<void>;
  /** Of a job that its client can call off. */
  callOff?: CallOff;
  log: Logger;
}>;

/** How work ends when its job is called off: that is no failure, and its end is in the log already. */
export type CallOff = Readonly<{
  jobId: string;
  /** Deletes what the work has left behind, as far as that can be done now. */
  cleanUp: (signal: AbortSignal) => Promise<void>;
}>;

export type GivenUp = Readonly<{ failure: TaskFailure; attempts: number; isDead: boolean }>;

export type AttemptSources = Readonly<{
  now: () => number;
  random: () => number;
  cancellations: Cancellations;
}>;

const longestTimerMs = 2 ** 31 - 1;

/**
 * The attempts of one task, which remember what came before. Each resolves to what the lane does next and
 * rejects only when `signal` aborts. Work stops at the deadline; saying that it failed does not. Both stop when
 * the job is called off.
 */
export function attemptsOf(work: Work, sources: AttemptSources): (signal: AbortSignal) => Promise<Verdict> {
  let history: TaskHistory = untried;
  let end: GivenUp | undefined;

  const perform = async (signal: AbortSignal): Promise<Verdict> => {
    const failure = await failureOfPerforming(work, signal, sources.now());
    if (failure === undefined) return finished;
    history = withFailure(history, failure);
    const decision = afterFailure(failure, history, sources.random());
    logFailure(work.log, failure, { ...history, ...decision });
    if (decision.action === 'retry') return retryAfter(work, decision.delayMs, sources.now());
    end = { failure, attempts: history.failures + history.outagesInARow, isDead: decision.isDead };
    return giveUp(end, signal);
  };

  const giveUp = async (how: GivenUp, signal: AbortSignal): Promise<Verdict> => {
    try {
      await work.giveUp(how, signal);
      return finished;
    } catch (error) {
      signal.throwIfAborted();
      history = { ...history, outagesInARow: history.outagesInARow + 1 };
      work.log.warn({ err: error }, 'the failure could not be recorded');
      return { kind: 'retry', delayMs: outageDelayMs(history.outagesInARow, sources.random()) };
    }
  };

  const attempt = (signal: AbortSignal) => (end === undefined ? perform(signal) : giveUp(end, signal));
  const { callOff } = work;
  if (callOff === undefined) return attempt;
  return (signal) =>
    sources.cancellations.heeding(callOff.jobId, (cancelled) =>
      unlessCancelled(attempt, { work, callOff, cancelled }, signal),
    );
}

/** Neither starts nor goes on once the job is called off; the task is finished then. */
async function unlessCancelled(
  attempt: (signal: AbortSignal) => Promise<Verdict>,
  { work, callOff, cancelled }: Readonly<{ work: Work; callOff: CallOff; cancelled: AbortSignal }>,
  signal: AbortSignal,
): Promise<Verdict> {
  try {
    if (!cancelled.aborted) return await attempt(AbortSignal.any([signal, cancelled]));
  } catch (error) {
    signal.throwIfAborted();
    if (!cancelled.aborted) throw error;
  }
  work.log.info('the work is called off');
  await callOff.cleanUp(signal);
  return finished;
}

/** Broken material is the client's matter; everything else an operator may want to see. */
function logFailure(log: Logger, failure: TaskFailure, about: Readonly<Record<string, unknown>>): void {
  const { class: failureClass, code, message: reason, detail } = failure;
  const level = failureClass === 'permanent' ? 'info' : 'warn';
  log[level]({ code, reason, detail, ...about }, 'a try failed');
}

async function failureOfPerforming(
  work: Work,
  signal: AbortSignal,
  nowMs: number,
): Promise<TaskFailure | undefined> {
  const leftMs = work.deadlineAtMs - nowMs;
  const { subject } = work;
  if (leftMs <= 0) return missedDeadline(subject);
  const atDeadline = AbortSignal.timeout(Math.min(leftMs, longestTimerMs));
  try {
    await work.perform(AbortSignal.any([signal, atDeadline]));
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return atDeadline.aborted ? missedDeadline(subject) : classifyFailure(error, subject);
  }
}

/** The wait ends at the deadline at the latest, so that the failure is not late too. */
function retryAfter(work: Work, delayMs: number, nowMs: number): Verdict {
  return { kind: 'retry', delayMs: Math.max(0, Math.min(delayMs, work.deadlineAtMs - nowMs)) };
}
