import type { TurnEvent, TurnResult } from './turn-types.js';

function noop(): void {
  // Nobody waits yet.
}

/**
 * A turn that was begun. Await it for its result, or read its events as they come; both is possible. Who begins to read late gets what is kept: messages and
 * what the machine told, without pieces of texts. Leaving the loop does not end the turn.
 *
 * @example
 * const turn = conversation.send('Hello');
 * for await (const event of turn) console.log(event.type);
 * console.log((await turn).text);
 */
export type Turn = Promise<TurnResult> & AsyncIterable<TurnEvent>;

/** What goes on in a turn, for who reads it. */
interface Going {
  readonly result: Promise<TurnResult>;
  /** What is kept of it so far, in order. */
  readonly kept: readonly TurnEvent[];
}

/** Begins a turn; `begin` is given what tells its events. */
export function beginTurn(begin: (tell: (event: TurnEvent) => void) => Going): Turn {
  const readers = new Set<Reader>();
  const { result, kept } = begin((event) => {
    for (const reader of readers) reader.put(event);
  });
  let isOver = false;
  const end = (): void => {
    isOver = true;
    for (const reader of readers) reader.wake();
  };
  // Who reads the events hears of a failure when they have come to their end.
  result.then(end, end);
  async function* read(): AsyncGenerator<TurnEvent, TurnResult> {
    const reader = new Reader(kept);
    readers.add(reader);
    try {
      for (;;) {
        const event = reader.take();
        if (event !== undefined) yield event;
        else if (isOver) return await result;
        else await reader.more();
      }
    } finally {
      readers.delete(reader);
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: read });
}

/** Somebody who reads the events of a turn. */
class Reader {
  private readonly events: TurnEvent[];
  private taken = 0;
  wake: () => void = noop;

  constructor(kept: readonly TurnEvent[]) {
    this.events = [...kept];
  }

  put(event: TurnEvent): void {
    this.events.push(event);
    this.wake();
  }

  take(): TurnEvent | undefined {
    return this.taken < this.events.length ? this.events[this.taken++] : undefined;
  }

  more(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }
}
