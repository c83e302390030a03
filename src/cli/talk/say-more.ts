import { relative, resolve } from 'node:path';
import type { Stand } from '../../talking.js';
import type { GivenInput } from '../run/given-inputs.js';
import type { KeptFlags, TalkFlags } from '../run/run-flags.js';
import { shellWord } from '../runs/text.js';
import { nextSteps, trustFlag } from '../view/next-steps.js';

/** Flags of a turn that the next one needs too: they say who answers, and what can be called. Those of `skein event` are kept. */
const NEEDED = ['model', 'mock', 'replay', 'tools', 'agent', 'prompt', 'policy', 'prices', 'limits'] as const;

/** Flags that say where a conversation begins. */
const BEGINNING = ['state', 'context'] as const;

/** Flags whose value is a file. */
const FILES: ReadonlySet<string> = new Set(['mock', 'replay', 'tools', 'policy', 'prices', 'limits', 'context']);

/** Maximum number of events shown as commands. */
const MOST_EVENTS = 5;

/** Longer values are not repeated in a command. */
const LONGEST_VALUE = 200;

type Flags = Pick<KeptFlags, (typeof NEEDED)[number]> & Pick<TalkFlags, (typeof BEGINNING)[number]>;

export interface GivenBefore extends Flags {
  readonly file: string;
  /** The folder that files named by flags are relative to. */
  readonly cwd: string;
  readonly inputs?: readonly GivenInput[];
}

interface Waiting extends GivenBefore {
  readonly thread: string;
  readonly stand: Stand;
  /** Whether a turn counted: before, the next one needs what was given to this one. */
  readonly hasBegun: boolean;
  /** Whether the next command needs `--trust`. */
  readonly trust: boolean;
}

/** The commands that continue a conversation. */
export function sayMore({ thread, stand, hasBegun, trust, inputs = [], ...given }: Waiting): readonly string[] {
  const flag = trustFlag(trust);
  const name = shellWord(thread);
  const first = hasBegun ? [] : [...inputs.map(inputFlag), ...flagsOf(BEGINNING, given)];
  const words = [shellWord(given.file), ...flagsOf(NEEDED, given), ...first].join(' ');
  // An event takes no variables, and begins at the entry.
  const events = first.length > 0 ? [] : stand.events.slice(0, MOST_EVENTS);
  const what = events.length === 0 ? 'say something more' : 'say something more, or give the event yourself';
  const fired = events.map((event) => `skein event ${name} ${shellWord(event)}${flag}`);
  return nextSteps(what, `skein run ${words} --thread ${name} --message TEXT${flag}`, ...fired);
}

function inputFlag({ name, value, isFile, isJson }: GivenInput): string {
  const flag = isFile ? '--input-file' : isJson === true ? '--input-json' : '--input';
  return `${flag} ${shellWord(`${name}=${value.length > LONGEST_VALUE ? 'VALUE' : value}`)}`;
}

function flagsOf(names: readonly (keyof Flags)[], { cwd, ...flags }: GivenBefore): readonly string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (value === undefined) return [];
    // Without a file it is the model that echoes.
    if (name === 'mock' && value === '') return ['--mock'];
    const shown = FILES.has(name) ? relative(process.cwd(), resolve(cwd, value)) : value;
    return [name === 'mock' ? shellWord(`--mock=${shown}`) : `--${name} ${shellWord(shown)}`];
  });
}
