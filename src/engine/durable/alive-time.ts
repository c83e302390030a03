import { isInside, nodePathOf, stepOf } from '../../base/address.js';

/** Whether the key of an effect belongs to a node or lies inside it. `path`: ids of nodes, empty for the whole run. */
export function isBelow(key: string, path: string): boolean {
  return path === '' || isInside(nodePathOf(stepOf(key)), path);
}

/**
 * Measures the milliseconds in which effects of a place ran. Parallel effects count once; waits for people, time or budget do not count.
 */
export class AliveTime {
  private open = 0;
  private since = 0;
  private total = 0;
  private earlier: number | undefined;

  /** `before`: milliseconds of earlier sessions. */
  constructor(
    readonly path: string,
    private readonly now: () => number,
    private readonly before: () => number,
  ) {}

  begins(): void {
    if (this.open === 0) this.since = this.now();
    this.open += 1;
  }

  ends(): void {
    this.open -= 1;
    if (this.open === 0) this.total += this.passed();
  }

  get ms(): number {
    this.earlier ??= this.before();
    return this.earlier + this.total + (this.open === 0 ? 0 : this.passed());
  }

  private passed(): number {
    return Math.max(0, this.now() - this.since);
  }
}
