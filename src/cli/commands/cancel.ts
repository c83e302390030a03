import type { Command } from 'commander';
import { cancelRun, readRun } from '../../index.js';
import { RUN, findRun, recordedIn } from '../runs/find-run.js';
import { withStore } from '../runs/with-store.js';
import { printable } from '../view/printable.js';
import { outcomeWords } from '../view/step-text.js';
import { printResult } from '../view/streams.js';

/** `skein cancel RUN`. */
export function define(command: Command): void {
  command
    .argument(...RUN)
    .addHelpText('after', '\nThe process that runs it ends it within a second, as with Ctrl-C.')
    .action(cancel);
}

async function cancel(text: string): Promise<void> {
  const said = await withStore(async (store) => {
    const id = await findRun(recordedIn(store), text);
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
}
