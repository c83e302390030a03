import { deliveredKey, deliveredName } from '../base/address.js';
import { addTo } from '../base/collections.js';
import type { Answer } from './store.js';

/**
 * Events that reached a run before any step waited for them. They are kept among the answers, under keys of their own. The answer of the
 * wait that takes an event names the event as its source, so each event is taken once.
 */
export class DeliveredEvents {
  private readonly left = new Map<string, Answer[]>();

  constructor(answers: readonly Answer[]) {
    const taken = new Set(answers.map(({ by }) => by));
    for (const answer of answers) {
      const name = deliveredName(answer.key);
      if (name !== undefined && !taken.has(answer.key)) addTo(this.left, name, answer);
    }
    for (const list of this.left.values()) list.sort((a, b) => a.at - b.at || numberOf(a) - numberOf(b));
  }

  get empty(): boolean {
    return this.left.size === 0;
  }

  /** Takes the first remaining event of a name, unless it came after the wait was due: then it belongs to another wait. */
  take(name: string, due = Infinity): Answer | undefined {
    const list = this.left.get(name);
    return (list?.[0]?.at ?? Infinity) <= due ? list?.shift() : undefined;
  }
}

function numberOf({ id }: Answer): number {
  return Number(id);
}

/** The stored form of an event that no step waits for yet. */
export function deliveredAnswer(name: string, number: number, value: string, at: number): Answer {
  return { key: deliveredKey(name, number), id: String(number), value, at, by: 'event' };
}
