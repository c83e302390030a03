import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { EXIT } from '../failures.js';
import { shellWord } from '../runs/text.js';
import { withStore } from '../runs/with-store.js';
import { jsonText } from '../view/printable.js';
import { printResult } from '../view/streams.js';

/** `skein context THREAD`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument('<thread>', 'the conversation with a pack')
    .option('--now', 'the state as it is now, even a transient one; without it: the last persistent state')
    .addHelpText('after', '\nPromptKit can read the document, and so can skein run PACK --context FILE.')
    .action(async (thread: string, { now = false }: { readonly now?: boolean }) => {
      done(await print(thread, now));
    });
}

async function print(thread: string, now: boolean): Promise<number> {
  return await withStore(async (store, root) => {
    const [{ keptConversation }, { contextOf }] = await Promise.all([
      import('../talk/kept-conversation.js'),
      import('../../talking.js'),
    ]);
    const found = await keptConversation(store, root, { thread, flags: { audit: true, color: false }, toRun: false });
    const { kept, machine } = found;
    if (kept.position === undefined) throw notBegun(thread, kept.head.record.t === 'turn');
    printResult(jsonText(contextOf(machine.setup, kept.log, kept.position, !now)));
    return EXIT.ok;
  });
}

/** `isOpen`: its first turn waits for an answer, or was interrupted. */
function notBegun(thread: string, isOpen: boolean): SkeinError {
  return new SkeinError('SKEIN_USAGE', `no turn of the conversation '${thread}' has succeeded yet`, {
    hint: isOpen
      ? `its first turn has not ended: skein thread ${shellWord(thread)} shows what it waits for, skein resume RUN continues it`
      : 'skein run PACK --thread NAME --message TEXT begins it',
  });
}
