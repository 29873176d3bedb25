import type { Readiness } from '#infra/health-server.ts';

/** Whether the projector does its work, and if not, why: each part reports its reason and takes it back. */
export class ProjectorStatus {
  readonly #reasons = new Map<string, string>([['start', 'The projector has not started yet.']]);

  fails(part: string, reason: string): void {
    this.#reasons.set(part, reason);
  }

  isWell(part: string): void {
    this.#reasons.delete(part);
  }

  readiness(): Readiness {
    return { ready: this.#reasons.size === 0, reasons: [...this.#reasons.values()] };
  }
}
