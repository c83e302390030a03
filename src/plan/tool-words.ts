import type { JsonTemplate, Template } from '../lang/values.js';
import { readsProgram, referenceInProgram, type CommandWord } from './program-text.js';
import { commandOf, writtenText, type ToolUse } from './tool-use.js';

/** A place in a command at which inserted text would run as a program. */
export interface ProgramFault {
  /** What the step does: `puts a reference into ...`. */
  readonly what: string;
  readonly hint: string;
  /** Where in the node. */
  readonly path: string;
  /** Index of the word; undefined for standard input. */
  readonly word: number | undefined;
}

/** Returns where inserted text would become part of a program and run; undefined if nowhere. */
export function programFault(tool: ToolUse): ProgramFault | undefined {
  const command = commandOf(tool);
  if (command === undefined) return undefined;
  const words = command.map(wordOf);
  const word = referenceInProgram(words);
  if (word === 0)
    return {
      what: 'takes its program from a reference',
      hint: 'write the program itself; a value is an argument',
      path: 'tool.input',
      word,
    };
  if (word !== undefined) {
    const program = writtenText(command[0] ?? { value: '' });
    const what = `puts a reference into the program text of ${JSON.stringify(program)}: what the value says would run`;
    return { what, hint: 'pass it as an argument after the text, in env, or on stdin', path: 'tool.input', word };
  }
  if (tool.stdin?.some((piece) => typeof piece !== 'string') !== true || !readsProgram(words)) return undefined;
  const what = 'gives a reference to a program that runs its standard input: what the value says would run';
  return {
    what,
    hint: 'name a script, and pass the value as an argument or by env',
    path: 'tool.stdin',
    word: undefined,
  };
}

function wordOf(source: JsonTemplate): CommandWord {
  if ('value' in source) return { text: typeof source.value === 'string' ? source.value : '', hasReference: false };
  const template: Template = 'template' in source ? source.template : [];
  const text = template.filter((piece) => typeof piece === 'string').join('');
  return { text, hasReference: !('template' in source) || template.some((piece) => typeof piece !== 'string') };
}
