/** Up to this many, a list's own `shift` is the fastest. */
const FEW = 64;

/**
 * First in, first out, however many: `shift` of a long list moves all that is left, each time.
 *
 * @example
 * const queue = new Queue<string>();
 * queue.put('a');
 * queue.take(); // 'a'
 */
export class Queue<T> {
  private items: T[] = [];
  /** How many of the items were taken. */
  private taken = 0;

  put(item: T): void {
    this.items.push(item);
  }

  /** What was not taken yet. */
  waiting(): T[] {
    return this.items.slice(this.taken);
  }

  take(): T | undefined {
    const { items, taken } = this;
    if (taken === 0 && items.length <= FEW) return items.shift();
    const item = items[taken];
    this.taken += 1;
    if (this.taken * 2 > items.length) {
      this.items = items.slice(this.taken);
      this.taken = 0;
    }
    return item;
  }
}
