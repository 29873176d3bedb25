import { Gauge } from 'prom-client';
import { metrics } from '#infra/metrics.ts';

const underWay = new Gauge({
  name: 'clipledger_uploads_under_way',
  help: 'Forms with files that are being received.',
  registers: [metrics],
});

/** How many forms this process receives at once: each holds a part of 5 MiB, so their number bounds its memory. */
export class UploadGate {
  readonly #limit: number;
  readonly #limitPerTeam: number;
  readonly #stop = new AbortController();
  readonly #countByTeam = new Map<number, number>();
  #count = 0;

  /** `perTeam` of the places at most are one team's, so that none keeps out all others. */
  constructor(limit: number, perTeam: number) {
    this.#limit = limit;
    this.#limitPerTeam = perTeam;
  }

  /** Aborts when uploads under way must end, because the process does. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** A place, given back by calling the result; undefined when all, or all of the team's, are taken. */
  enter(teamId: number): (() => void) | undefined {
    if (this.#count >= this.#limit || this.#ofTeam(teamId) >= this.#limitPerTeam) return undefined;
    this.#add(teamId, 1);
    return () => this.#add(teamId, -1);
  }

  #ofTeam(teamId: number): number {
    return this.#countByTeam.get(teamId) ?? 0;
  }

  #add(teamId: number, places: 1 | -1): void {
    const ofTeam = this.#ofTeam(teamId) + places;
    if (ofTeam === 0) this.#countByTeam.delete(teamId);
    else this.#countByTeam.set(teamId, ofTeam);
    this.#count += places;
    underWay.set(this.#count);
  }

  stop(): void {
    this.#stop.abort();
  }
}
