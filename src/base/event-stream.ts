/** What a stream reads. Its parts are called in turn, never two at a time. */
export interface Source<T, R> {
  /** Returns the next item, or undefined if there is none at present. */
  take(): T | undefined;
  /** True once no more items can come. */
  isOver(): boolean;
  /** Resolves when there is more, or all is over. */
  more(): Promise<void>;
  ended(): Promise<R>;
  /** Called when the reader leaves, and also when all was read. */
  left(): void;
}

/**
 * Returns a source as a stream. The source is opened when the first item is requested. The reader may leave at any time: a generator on its
 * own hears of a `return` only once its pending `next` has settled, and who reads for a web page mostly leaves while one is pending.
 */
export function streamOf<T, R>(open: () => Source<T, R> | Promise<Source<T, R>>): AsyncGenerator<T, R> {
  let source: Source<T, R> | undefined;
  let isLeft = false;
  const leave = (): void => {
    isLeft = true;
    source?.left();
  };
  async function* read(): AsyncGenerator<T, R> {
    const opened = open();
    source = opened instanceof Promise ? await opened : opened;
    if (isLeft) source.left();
    try {
      for (;;) {
        const item = source.take();
        if (item !== undefined) yield item;
        else if (source.isOver()) return await source.ended();
        else await source.more();
      }
    } finally {
      source.left();
    }
  }
  const items = read();
  const returned = items.return.bind(items);
  const thrown = items.throw.bind(items);
  items.return = (value) => {
    leave();
    return returned(value);
  };
  items.throw = (error) => {
    leave();
    return thrown(error);
  };
  return items;
}
