type Queued = { readonly teamId: number };

/** Waiting tasks, handed out by turns between teams; within a team first come, first served. */
export class FairQueue<Task extends Queued> {
  // The order of the keys is the order of the turns: who was served moves to the end.
  readonly #byTeam = new Map<number, Task[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(task: Task): void {
    const tasks = this.#byTeam.get(task.teamId);
    if (tasks === undefined) this.#byTeam.set(task.teamId, [task]);
    else tasks.push(task);
    this.#size += 1;
  }

  /** The next task that `mayRun`, of the team whose turn it is; undefined when there is none. */
  take(mayRun: (task: Task) => boolean = () => true): Task | undefined {
    for (const [teamId, tasks] of this.#byTeam) {
      const index = tasks.findIndex(mayRun);
      if (index === -1) continue;
      const [task] = tasks.splice(index, 1);
      this.#byTeam.delete(teamId);
      if (tasks.length > 0) this.#byTeam.set(teamId, tasks);
      this.#size -= 1;
      return task;
    }
    return undefined;
  }

  /** Removes every task for which `isLost` holds. */
  drop(isLost: (task: Task) => boolean): void {
    for (const [teamId, tasks] of [...this.#byTeam]) {
      const kept = tasks.filter((task) => !isLost(task));
      this.#size -= tasks.length - kept.length;
      if (kept.length === 0) this.#byTeam.delete(teamId);
      else this.#byTeam.set(teamId, kept);
    }
  }
}
