import type { Keeper, KeeperOptions } from './keeper.js';

const FILE = 'memory.md';

/** Keeps the shared memory of a workflow in `memory.md`, as it is now. */
export function keepMemory({ workflow, writer, redactor }: KeeperOptions): Keeper {
  const { memory } = workflow.settings;
  let text = memory?.initial ?? '';
  return {
    first: () => (memory === undefined ? [] : [[FILE, redactor.text(text)]]),
    listen(event) {
      if (event.type !== 'step.note' || event.note.kind !== 'memory') return;
      const { mode, text: added } = event.note;
      // As the memory itself does it: an entry begins on a line of its own.
      if (mode === 'replace' || text === '') text = added;
      else text = `${text}${text.endsWith('\n') ? '' : '\n'}${added}`;
      writer.write(FILE, () => redactor.text(text));
    },
  };
}
