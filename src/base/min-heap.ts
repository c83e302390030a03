/** A binary heap: the item with the lowest order comes first. Orders must not change while an item is in it. */
export class MinHeap<T> {
  private readonly items: T[] = [];

  constructor(private readonly orderOf: (item: T) => number) {}

  /** The item that comes next; it stays. */
  get first(): T | undefined {
    return this.items[0];
  }

  put(item: T): void {
    const { items, orderOf } = this;
    const order = orderOf(item);
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = items[up];
      if (parent === undefined || orderOf(parent) <= order) break;
      items[at] = parent;
      at = up;
    }
    items[at] = item;
  }

  take(): T | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    this.sink(last);
    return first;
  }

  /** Puts an item at the top, and lets it sink to its place. */
  private sink(item: T): void {
    const { items, orderOf } = this;
    const order = orderOf(item);
    let at = 0;
    for (let down = 1; down < items.length; down = 2 * at + 1) {
      const next = this.lower(down, down + 1);
      const child = items[next];
      if (child === undefined || orderOf(child) >= order) break;
      items[at] = child;
      at = next;
    }
    items[at] = item;
  }

  /** Which of two places holds the lower item; the second may be none. */
  private lower(left: number, right: number): number {
    const one = this.items[left];
    const other = this.items[right];
    return one !== undefined && other !== undefined && this.orderOf(other) < this.orderOf(one) ? right : left;
  }
}
