import type { Command } from 'commander';
import { present } from '../../base/json.js';
import { forkThread, listThreads, removeThread, type ThreadSummary } from '../../index.js';
import type { JsonFlag } from '../run/run-flags.js';
import { readCount } from '../run/run-options.js';
import { localTime, tableLines } from '../runs/text.js';
import { withStore } from '../runs/with-store.js';
import { shownJson, oneLine } from '../view/printable.js';
import { outcomeWords } from '../view/step-text.js';
import { printNote, printResult } from '../view/streams.js';
import { styleFor } from '../view/style.js';

/** Maximum number of conversations listed. */
const LISTED = 100;
/** Maximum number of characters of a name that are shown. */
const NAME_WIDTH = 60;

/** `skein threads` with `remove` and `fork`. */
export function define(command: Command): void {
  command
    .option('--json', 'print all conversations as one JSON document')
    .addHelpText(
      'after',
      '\nskein run FILE --thread NAME starts a conversation or continues it; skein thread NAME shows it.',
    )
    .action(list);
  command
    .command('remove')
    .description('remove a conversation with all of its turns')
    .argument('<thread>', 'the name of the conversation')
    .action(async (name: string) => {
      await withStore((store) => removeThread(store, name));
      printNote(`removed the thread ${oneLine(name, NAME_WIDTH)} with all of its turns`);
    });
  command
    .command('fork')
    .description('start a conversation from the state that another one had after a turn')
    .argument('<thread>', 'the existing conversation')
    .argument('<new>', 'the name of the new one')
    .option('--turn <n>', 'the last turn that both share; without it: the last that succeeded', readCount)
    .action(async (name: string, to: string, { turn }: { readonly turn?: number }) => {
      await withStore((store) => forkThread(store, name, to, present({ turn })));
      printNote(`${oneLine(to, NAME_WIDTH)} continues from ${oneLine(name, NAME_WIDTH)}`);
    });
}

async function list({ json = false }: JsonFlag): Promise<void> {
  const threads = await withStore((store) => listThreads(store));
  if (json) printResult(shownJson({ threads }));
  else if (threads.length === 0) printNote('no conversation is kept here: skein run FILE --thread NAME begins one');
  else printResult(threadLines(threads.slice(0, LISTED)).join('\n'));
  if (!json && threads.length > LISTED)
    printNote(`and ${threads.length - LISTED} older ones: skein threads --json lists all`);
}

function threadLines(threads: readonly ThreadSummary[]): readonly string[] {
  const [head = '', ...lines] = tableLines([
    ['thread', 'workflow', 'turns', 'last turn', 'ended'],
    ...threads.map(({ id, workflow, turns, status, endedAt, problem }) => [
      oneLine(id, NAME_WIDTH),
      oneLine(workflow, 40),
      String(turns),
      problem === undefined ? outcomeWords(status) : 'damaged',
      endedAt === undefined ? '' : localTime(endedAt),
    ]),
  ]);
  return [styleFor(process.stdout).dim(head), ...lines];
}
