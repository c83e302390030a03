import type { Argument, Command, Option } from 'commander';
import { normalizeWords } from '../other-verbs.js';

/** A possible word at the cursor. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** A request for paths, which the shell completes. `before` precedes the path in the same word. */
export interface Paths {
  readonly paths: 'files' | 'folders';
  readonly before: string;
}

export type StoredKind = 'runs' | 'threads';

export interface Sources {
  /** Defines a command of the program. Its file is loaded only if the words name the command. */
  readonly load: (command: Command) => Promise<void>;
  readonly stored: (kind: StoredKind, typed: string) => Promise<readonly Candidate[]>;
}

/** The kinds of values, by the names between `<` and `>` in definitions; for flags also by the name of the flag. */
const KINDS: ReadonlyMap<string, Paths['paths'] | StoredKind> = new Map([
  ['file', 'files'],
  ['files', 'files'],
  ['dir', 'folders'],
  ['run', 'runs'],
  ['other', 'runs'],
  ['thread', 'threads'],
]);

/** The position of the cursor: what the words before it mean. */
interface Position {
  readonly command: Command;
  /** True after `help`, where only commands follow. */
  readonly helping: boolean;
  /** The flag whose value comes next. */
  readonly waiting: Option | undefined;
  readonly operands: number;
  /** True after `--`, where no flags follow. */
  readonly ended: boolean;
}

/** Completes the last of the words, by the definitions of the commands. The words are those after the program name. */
export async function candidatesFor(
  program: Command,
  asTyped: readonly string[],
  sources: Sources,
): Promise<readonly Candidate[] | Paths> {
  const words = asTyped.map(unquoted);
  const typed = words.at(-1) ?? '';
  const { command, helping, waiting, operands, ended } = await positionOf(program, words.slice(0, -1), sources);
  if (waiting !== undefined) return await valuesOf(waiting, '', typed, sources);
  if (!ended && !helping && typed.startsWith('-')) {
    const [, flag, value] = /^(--[a-z-]+)=([^]*)$/.exec(typed) ?? [];
    if (flag === undefined || value === undefined) return startingWith(typed, flagsOf(command));
    const option = optionOf(command, flag);
    return option === undefined || option.isBoolean() ? [] : await valuesOf(option, `${flag}=`, value, sources);
  }
  const commands = operands === 0 ? startingWith(typed, commandsOf(command)) : [];
  const all = command.registeredArguments;
  const argument = all[operands] ?? all.findLast((one) => one.variadic);
  if (helping || argument === undefined) return commands;
  const values = await valuesOf(argument, '', typed, sources);
  return 'paths' in values ? values : [...commands, ...values];
}

async function positionOf(program: Command, words: readonly string[], { load }: Sources): Promise<Position> {
  let at: Position = { command: program, helping: false, waiting: undefined, operands: 0, ended: false };
  for (const raw of words) {
    const { command, waiting, operands, ended } = at;
    const [word = raw] = ended ? [raw] : normalizeWords([raw], command);
    if (waiting !== undefined) at = { ...at, waiting: undefined };
    else if (!ended && word === '--') at = { ...at, ended: true };
    else if (!ended && /^-./.test(word)) {
      const option = optionOf(command, word);
      at = { ...at, waiting: option?.required === true ? option : undefined };
    } else {
      const next = operands > 0 ? undefined : visibleCommands(command).find((one) => one.name() === word);
      if (next === undefined) at = { ...at, operands: operands + 1 };
      else if (!command.commands.includes(next)) at = { ...at, helping: true };
      else {
        await load(next);
        at = { ...at, command: next };
      }
    }
  }
  return at;
}

/** Values of a flag or an argument. `before` precedes the value in the same word. */
async function valuesOf(
  of: Option | Argument,
  before: string,
  typed: string,
  { stored }: Sources,
): Promise<readonly Candidate[] | Paths> {
  const isOption = 'flags' in of;
  const named = isOption ? (/[<[]([^>\].]+)/.exec(of.flags)?.[1] ?? '') : of.name();
  if (of.argChoices !== undefined) {
    const choices = of.argChoices.map((word) => ({ word: before + word, about: '' }));
    return startingWith(before + typed, choices);
  }
  // A value such as name=file: the part after the first = is the path.
  const [, name = '', kindName = named] = /^(.*=)(.*)$/.exec(named) ?? [];
  const assigned = name === '' ? '' : (/^[^=]*=/.exec(typed)?.[0] ?? undefined);
  const kind = KINDS.get(kindName) ?? (isOption ? KINDS.get(of.attributeName()) : undefined);
  if (kind === undefined || assigned === undefined) return [];
  if (kind === 'files' || kind === 'folders') return { paths: kind, before: before + assigned };
  const found = await stored(kind, typed);
  return found.map(({ word, about }) => ({ word: before + word, about }));
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find((option) => option.long === flag || option.short === flag);
}

function flagsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ short, long, description }) =>
      [short, long].flatMap((word) => (word === undefined ? [] : [{ word, about: description }])),
    );
}

/** Includes the help command and excludes hidden ones. */
function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function commandsOf(command: Command): readonly Candidate[] {
  return visibleCommands(command).map((one) => ({ word: one.name(), about: one.description() }));
}

function startingWith(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(typed));
}

const QUOTED = /'([^']*)(?:'|$)|"((?:[^"\\]|\\[^])*)(?:"|$)|\\([^])/g;

/** Removes shell quotes from a word. Shells pass the word as typed, so a quote may still be open. */
function unquoted(word: string): string {
  return word.replace(QUOTED, (_, single?: string, double?: string, escaped?: string) => {
    return single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? '';
  });
}
