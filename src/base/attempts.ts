/**
 * Keeps what happens inside of steps that may be tried again, until it is known whether their attempt counts. Steps are told apart by their paths, in
 * the order in which they start and end.
 *
 * @example
 * const attempts = new Attempts<string>();
 * attempts.open('block', '', true);
 * attempts.keep('block', ['first try']); // []: not known yet
 * attempts.again('block'); // ['first try']: it does not count
 * attempts.close('block', ''); // []: nothing was kept since
 */
export class Attempts<T> {
  /** Of open steps that contain others: the step that each runs inside. */
  private readonly around = new Map<string, string>();
  /** What was kept inside of open steps that may be tried again. */
  private readonly kept = new Map<string, T[]>();

  /** A step begins that contains others. */
  open(path: string, parent: string, mayBeTriedAgain: boolean): void {
    this.around.set(path, parent);
    if (mayBeTriedAgain) this.kept.set(path, []);
  }

  /** Keeps what happened inside of a step; gives it back when it counts already. */
  keep(parent: string, items: readonly T[]): readonly T[] {
    for (let path: string | undefined = parent; path !== undefined && path !== ''; path = this.around.get(path)) {
      const kept = this.kept.get(path);
      if (kept === undefined) continue;
      for (const item of items) kept.push(item);
      return [];
    }
    return items;
  }

  /** The step is tried again: gives what does not count. */
  again(path: string): readonly T[] {
    const kept = this.kept.get(path) ?? [];
    if (this.kept.has(path)) this.kept.set(path, []);
    return kept;
  }

  /** The step ends: gives what counts, unless a step around it may be tried again. */
  close(path: string, parent: string): readonly T[] {
    const kept = this.kept.get(path) ?? [];
    this.kept.delete(path);
    this.around.delete(path);
    return kept.length === 0 ? kept : this.keep(parent, kept);
  }
}
