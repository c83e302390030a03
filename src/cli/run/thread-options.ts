import { Option, type Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { present } from '../../base/json.js';
import type { ThreadOptions } from '../../index.js';

export interface ThreadFlags {
  readonly thread?: string;
  readonly onFailed?: 'skip' | 'retry';
  readonly onBusy?: 'wait' | 'refuse';
}

/** Adds the flags of commands whose run may be a turn of a conversation. */
export function addThreadOptions(command: Command): Command {
  return command
    .optionsGroup('Conversations:')
    .option('--thread <name>', 'continue this conversation from the state of its last turn, or start it')
    .addOption(new Option('--on-failed <what>', FAILED_TURN).choices(['skip', 'retry']))
    .addOption(new Option('--on-busy <what>', BUSY_THREAD).choices(['wait', 'refuse']))
    .optionsGroup('Options:');
}

const FAILED_TURN = 'if the previous turn failed: skip it (the default), or retry it first';
const BUSY_THREAD = 'while another turn runs: wait until it ends (the default), or refuse';

/**
 * Returns the thread that the flags name.
 *
 * @throws SkeinError `SKEIN_USAGE` for flags that require another one
 */
export function threadOf(flags: ThreadFlags & { readonly store: boolean }): ThreadOptions | undefined {
  const { thread, onFailed, onBusy, store } = flags;
  if (thread === undefined) {
    if (onFailed === undefined && onBusy === undefined) return undefined;
    const flag = onFailed === undefined ? '--on-busy' : '--on-failed';
    throw new SkeinError('SKEIN_USAGE', `${flag} applies only to the turns of a thread`, { hint: 'add --thread NAME' });
  }
  if (!store) throw needsStore('leave out --no-store');
  return { id: thread, ...present({ onFailed, onBusy }) };
}

/** The error for a conversation that would not be recorded. */
export function needsStore(hint: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', '--thread needs a record: the next turn continues from it', { hint });
}
