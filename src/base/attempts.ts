/**
 * Holds back what happens inside steps that may be retried, until their attempt is known to count. Steps are identified by path, and
 * reported in the order in which they start and end.
 *
 * @example
 * const attempts = new Attempts<string>();
 * attempts.open('block', '', true);
 * attempts.keep('block', ['first try']); // []: not known yet
 * attempts.again('block'); // ['first try']: it does not count
 * attempts.close('block', ''); // []: nothing was kept since
 */
export class Attempts<T> {
  /** The parent of each open step that contains others. */
  private readonly around = new Map<string, string>();
  /** Items held back inside open steps that may be retried. */
  private readonly kept = new Map<string, T[]>();

  /** Opens a step that contains others. */
  open(path: string, parent: string, mayBeTriedAgain: boolean): void {
    this.around.set(path, parent);
    if (mayBeTriedAgain) this.kept.set(path, []);
  }

  /** Holds back items inside a step; returns them if they already count. */
  keep(parent: string, items: readonly T[]): readonly T[] {
    for (let path: string | undefined = parent; path !== undefined && path !== ''; path = this.around.get(path)) {
      const kept = this.kept.get(path);
      if (kept === undefined) continue;
      for (const item of items) kept.push(item);
      return [];
    }
    return items;
  }

  /** Starts a retry of the step: returns the items that do not count. */
  again(path: string): readonly T[] {
    const kept = this.kept.get(path) ?? [];
    if (this.kept.has(path)) this.kept.set(path, []);
    return kept;
  }

  /** Ends the step: returns the items that count, unless a step around it may be retried. */
  close(path: string, parent: string): readonly T[] {
    const kept = this.kept.get(path) ?? [];
    this.kept.delete(path);
    this.around.delete(path);
    return kept.length === 0 ? kept : this.keep(parent, kept);
  }
}
