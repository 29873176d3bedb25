import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node';
import { platformVerdict } from './shared-platform.ts';

type Counts = { passed: number; failed: number; skipped: number };

/**
 * Ends the run's output with the back end of the integration tests and, alone on the last line, the
 * counts: `N passed, N failed`. Written when the process exits, so that nothing comes after it.
 */
export default class ClosingReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const counts = countTests(modules);
    // Errors outside of any test fail the run too.
    counts.failed += errors.length;
    process.once('exit', (exitCode) => {
      // A platform that does not start, or a time limit at the end, leaves no failed test behind.
      const silentFailure = (reason !== 'passed' || exitCode !== 0) && counts.failed === 0;
      if (silentFailure) counts.failed = 1;
      writeSync(1, closingLines(counts, platformVerdict()));
    });
  }
}

/** The last lines of a run. */
export function closingLines({ passed, failed, skipped }: Counts, verdict: string | undefined): string {
  const counts = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return `\n${verdict === undefined ? '' : `${verdict}\n`}${counts}\n`;
}

function countTests(modules: readonly TestModule[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      counts[state === 'pending' ? 'skipped' : state] += 1;
    }
    // A file that does not load, or whose hooks fail, may have no failed test to show for it.
    const hasFailedTest = [...module.children.allTests('failed')].length > 0;
    if (module.state() === 'failed' && !hasFailedTest) counts.failed += 1;
  }
  return counts;
}
