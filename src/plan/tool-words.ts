import type { JsonTemplate, Template } from '../lang/values.js';
import { findsCode, readsProgram, referenceInProgram, type CommandWord } from './program-text.js';
import { commandOf, writtenText, type ToolUse } from './tool-use.js';

/** A place in a command at which inserted text would run as a program. */
export interface ProgramFault {
  /** What the step does: `puts a reference into ...`. */
  readonly what: string;
  readonly hint: string;
  readonly path: string;
  /** Index of the word; undefined for standard input and for a variable. */
  readonly word: number | undefined;
  readonly variable?: string;
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
  return faultyInput(tool, words) ?? faultyVariable(tool);
}

function faultyInput({ stdin = [] }: ToolUse, words: readonly CommandWord[]): ProgramFault | undefined {
  if (!hasReference(stdin) || !readsProgram(words)) return undefined;
  const what = 'gives a reference to a program that runs its standard input: what the value says would run';
  return {
    what,
    hint: 'name a script, and pass the value as an argument or by env',
    path: 'tool.stdin',
    word: undefined,
  };
}

function faultyVariable({ env = {} }: ToolUse): ProgramFault | undefined {
  const variable = Object.keys(env).find((name) => findsCode(name) && hasReference(env[name] ?? []));
  if (variable === undefined) return undefined;
  return {
    what: `puts a reference into ${variable}, which tells programs what to run: the value would decide that`,
    hint: 'pass the value by a variable of another name',
    path: `tool.env.${variable}`,
    word: undefined,
    variable,
  };
}

function hasReference(text: Template): boolean {
  return text.some((piece) => typeof piece !== 'string');
}

function wordOf(source: JsonTemplate): CommandWord {
  if ('value' in source) return { text: typeof source.value === 'string' ? source.value : '', hasReference: false };
  const template: Template = 'template' in source ? source.template : [];
  const text = template.filter((piece) => typeof piece === 'string').join('');
  return { text, hasReference: !('template' in source) || hasReference(template) };
}
