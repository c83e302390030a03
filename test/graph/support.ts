import type { GraphEvent } from 'skein/graph';

/** Something that a node waits for until the test says so. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Nodes of the events of a type, in their order. */
export function orderOf(events: readonly GraphEvent[], type: string): (string | undefined)[] {
  return events.filter((event) => event.type === type).map((event) => event.node);
}

/** Events as `type node`, those of the run without a node. */
export function outline(events: readonly GraphEvent[]): string[] {
  return events.map(({ type, node }) => (node === undefined ? type : `${type} ${node}`));
}

/** All that an iterable gives. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
