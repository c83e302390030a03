import type { Keeper, KeeperOptions } from './keeper.js';

const FILE = 'memory.md';

/** Keeps `memory.md` equal to the shared memory of a workflow. */
export function keepMemory({ workflow, writer, redactor }: KeeperOptions): Keeper {
  const { memory } = workflow.settings;
  let text = memory?.initial ?? '';
  return {
    first: () => (memory === undefined ? [] : [[FILE, redactor.text(text)]]),
    listen(event) {
      if (event.type !== 'step.note' || event.note.kind !== 'memory') return;
      const { mode, text: added } = event.note;
      // Same rule as in the memory: an entry begins on a new line.
      if (mode === 'replace' || text === '') text = added;
      else text = `${text}${text.endsWith('\n') ? '' : '\n'}${added}`;
      writer.write(FILE, () => redactor.text(text));
    },
  };
}
