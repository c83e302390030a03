import type { TurnEvent, TurnResult } from './turn-types.js';

function noop(): void {
  // Nobody waits yet.
}

/** What goes on in a turn, for who reads it. */
export interface Going {
  readonly result: Promise<TurnResult>;
  /** What is kept of it so far, in order. */
  readonly kept: readonly TurnEvent[];
}

/**
 * A turn that was begun. Await it for its result, or read its events as they come; both is possible.
 *
 * @example
 * const turn = conversation.send('Hello');
 * for await (const event of turn) console.log(event.type);
 * console.log((await turn).text);
 */
export class Turn implements PromiseLike<TurnResult>, AsyncIterable<TurnEvent> {
  private readonly readers = new Set<{ readonly events: TurnEvent[]; wake: () => void }>();
  private readonly going: Going;
  private isOver = false;
  /** Settles with the turn, however it ends. */
  readonly ended: Promise<void>;

  constructor(begin: (tell: (event: TurnEvent) => void) => Going) {
    this.going = begin((event) => {
      for (const reader of this.readers) {
        reader.events.push(event);
        reader.wake();
      }
    });
    const end = (): void => {
      this.isOver = true;
      for (const { wake } of this.readers) wake();
    };
    // Who reads the events hears of a failure when they have come to their end.
    this.ended = this.going.result.then(end, end);
  }

  then<A = TurnResult, B = never>(
    done?: ((result: TurnResult) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.going.result.then(done, failed);
  }

  /** Who comes late gets what is kept: messages and what the machine told, without pieces of texts. Leaving the loop does not end the turn. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent, TurnResult> {
    const reader = { events: [...this.going.kept], wake: noop };
    this.readers.add(reader);
    try {
      for (let at = 0; ; at += 1) {
        while (at >= reader.events.length && !this.isOver)
          await new Promise<void>((resolve) => (reader.wake = resolve));
        const event = reader.events[at];
        if (event === undefined) return await this.going.result;
        yield event;
      }
    } finally {
      this.readers.delete(reader);
    }
  }
}
