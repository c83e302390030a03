import type { Command } from 'commander';
import { cancelRun, readRun } from '../../index.js';
import { EXIT } from '../failures.js';
import { findRun } from '../runs/find-run.js';
import { withStore } from '../runs/with-store.js';
import { printable } from '../view/printable.js';
import { outcomeWords } from '../view/step-text.js';
import { printResult } from '../view/streams.js';

/** `skein cancel RUN`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument('<run>', 'its id, the beginning or the end of it, or -1 for the newest')
    .addHelpText('after', '\nThe process that runs it ends it within a second, as with Ctrl-C.')
    .action(async (run: string) => {
      done(await cancel(run));
    });
}

async function cancel(text: string): Promise<number> {
  const said = await withStore((store) => {
    const ids = store.list().map((row) => row.id);
    const id = findRun(ids, text);
    switch (cancelRun(store, id)) {
      case 'requested':
        return `run ${id}: its process was asked to cancel it`;
      case 'cancelled':
        return `run ${id} is cancelled`;
      case 'ended':
        return `run ${id} had already ended: ${outcomeWords(readRun(store, id).status)}`;
    }
  });
  printResult(printable(said));
  return EXIT.ok;
}
