import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';

/** What stands on the command line about the conversation with a pack. */
export interface TalkFlags {
  readonly message?: readonly string[];
  readonly state?: string;
  readonly agent?: string;
  readonly prompt?: string;
  readonly context?: string;
  readonly tools?: string;
}

/** Flags of commands that talk with packs. */
export function addTalkOptions(command: Command): Command {
  return command
    .option('--message <text>', 'what is said to a pack; several are said one after the other; - for stdin', more)
    .option('--state <name>', 'the state of a pack in which a conversation begins')
    .option('--agent <name>', 'the agent of a pack that talks')
    .option('--prompt <name>', 'the prompt of a pack that talks alone, without the workflow')
    .option('--context <file>', 'a context of PromptKit or of skein context, at which a conversation begins')
    .option('--tools <file>', 'tools of an Agentfile, such as write,bash; or a module with the tools of a pack');
}

function more(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

const FLAGS = ['message', 'state', 'agent', 'prompt', 'context'] as const satisfies readonly (keyof TalkFlags)[];

/** @throws SkeinError `SKEIN_USAGE` for a flag that only packs have */
export function checkNoTalk(flags: TalkFlags, file: string): void {
  const given = FLAGS.find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  const hint =
    given === 'message' || given === 'prompt' ? 'a workflow takes --input NAME=VALUE' : `leave out --${given}`;
  throw new SkeinError('SKEIN_USAGE', `--${given} is for packs, and ${file} is none`, { hint });
}
