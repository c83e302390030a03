import type { RecordedTicket } from './recorded-ticket.js';

/** Tickets that have an outcome and were not delivered: the one with the lowest order comes first. A binary heap. */
export class DeliveryQueue {
  private readonly heap: RecordedTicket[] = [];

  get first(): RecordedTicket | undefined {
    return this.heap[0];
  }

  put(ticket: RecordedTicket): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(ticket);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || parent.order <= ticket.order) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = ticket;
  }

  take(): RecordedTicket | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && orderAt(heap, down + 1) < orderAt(heap, down)) down += 1;
      const child = heap[down];
      if (child === undefined || child.order >= last.order) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}

function orderAt(heap: readonly RecordedTicket[], at: number): number {
  return heap[at]?.order ?? Number.POSITIVE_INFINITY;
}
