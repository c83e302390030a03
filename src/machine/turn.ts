import type { TurnEvent, TurnResult } from './turn-types.js';

function noop(): void {
  // Replaced when somebody waits.
}

/**
 * A turn in progress. Await it for its result, read its events as they arrive, or both. A late reader receives what is kept: messages and
 * the machine's events, without pieces of text. Leaving the loop does not end the turn.
 *
 * @example
 * const turn = conversation.send('Hello');
 * for await (const event of turn) console.log(event.type);
 * console.log((await turn).text);
 */
export type Turn = Promise<TurnResult> & AsyncIterable<TurnEvent>;

interface Going {
  readonly result: Promise<TurnResult>;
  readonly kept: readonly TurnEvent[];
}

/** Begins a turn; `begin` receives the function that reports its events. */
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
  // Readers of the events learn of a failure when the events end.
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
