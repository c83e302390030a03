import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject, jsonIn, type JsonObject } from '../../base/json.js';
import { saidOf, withInputsOfOthers } from '../run/inputs-of-others.js';
import type { CommonFlags } from '../run/run-flags.js';
import { addRunOptions } from '../run/run-options.js';
import { withStore } from '../runs/with-store.js';

interface EventOptions extends CommonFlags {
  readonly message?: string;
  readonly context?: string;
  readonly data?: string;
  readonly tools?: string;
}

/** `skein event THREAD EVENT`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument('<thread>', 'the conversation with a pack')
    .argument('<event>', 'an event of its current state')
    .option('--message <text>', 'what you say in the state that the event leads to, which answers at once; - for stdin')
    .option('--context <text>', 'the text that the prompt of that state shows as {{workflow_context}}')
    .option('--data <json>', 'an object to keep with the transition, - for stdin; no model sees it')
    .option('--tools <file>', 'a module with the functions that are the tools of the pack');
  addRunOptions(command)
    .addHelpText('after', '\nFlags that you leave out keep the values of the previous turn.')
    .action(async (thread: string, event: string, options: EventOptions) => {
      done(await fire(thread, event, options));
    });
}

async function fire(thread: string, event: string, options: EventOptions): Promise<number> {
  const { message: text, context, data, ...given } = options;
  if (text === '-' && data === '-')
    throw new SkeinError('SKEIN_USAGE', 'stdin can be only one of --message and --data', {
      hint: 'give one of them as text',
    });
  const { readMessage, readStdin } = await import('../talk/messages.js');
  const object = data === undefined ? undefined : readData(data === '-' ? await readStdin() : data);
  const message = text === undefined ? undefined : await readMessage(text);
  return await withStore(async (store, root) => {
    const [{ keptConversation }, { openConversation }, { talkOnce }] = await Promise.all([
      import('../talk/kept-conversation.js'),
      import('../talk/open-conversation.js'),
      import('../talk/talk-command.js'),
    ]);
    const kept = await keptConversation(store, root, { thread, flags: given, toRun: true });
    const said = text === undefined ? [] : saidOf([text]);
    const kind = data === '-' ? [{ name: 'data', value: '-', isFile: true }] : [];
    const how = { cwd: kept.cwd, flag: '--data' };
    const { flags: marked, told } = await withInputsOfOthers(kept.flags, [...said, ...kind], kept.cwd, how);
    const flags = { ...marked, thread, store: true };
    const conversation = await openConversation({ ...kept, flags, told, variables: {} });
    return await talkOnce(
      conversation,
      { message, event, context, data: object },
      { ...flags, file: kept.file, cwd: kept.cwd },
    );
  });
}

/** @throws SkeinError `SKEIN_USAGE` */
function readData(text: string): JsonObject {
  const data = jsonIn(text);
  if (isPlainObject(data)) return data as JsonObject;
  throw new SkeinError('SKEIN_USAGE', `--data takes a JSON object, not ${JSON.stringify(text.slice(0, 100))}`, {
    hint: `write --data '{"ticket": 7}'`,
  });
}
