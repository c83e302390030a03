import { lazily } from '../base/collections.js';
import { BUILT_IN, BUILT_IN_TOOLS, takes } from './built-in-tools.js';
import { STEP_TOOLS, builtInOf } from './tool-names.js';

/** A parsed rule of `Permissions`: `shell:cmd=rm *` is the tool `shell` with the argument `cmd`. */
export interface PermissionRule {
  readonly text: string;
  readonly tool: string;
  /** All must match. */
  readonly args: readonly { readonly name: string; readonly pattern: string }[];
}

const LONGEST = 1_000;
const ARGUMENT = /:([A-Za-z_][A-Za-z0-9_-]*)=/g;

/** The name of a tool's command line in rules, next to the arguments of models. */
export const COMMAND_NAME = 'cmd';

/** All names that rules may use for a command line. */
export const COMMAND_ARGUMENTS: ReadonlySet<string> = new Set([
  COMMAND_NAME,
  ...BUILT_IN_TOOLS.flatMap((tool) => Object.entries(BUILT_IN[tool].arguments))
    .filter(([, { kind }]) => kind === 'command')
    .map(([name]) => name),
]);

/** Arguments that rules may name, of the built-in tools and of the step's tools. */
export const toolArguments = lazily(
  (): ReadonlyMap<string, readonly string[]> =>
    new Map([
      ...BUILT_IN_TOOLS.map((tool): [string, readonly string[]] => [
        tool,
        [...(takes(tool, 'command') ? [COMMAND_NAME] : []), ...Object.keys(BUILT_IN[tool].arguments)],
      ]),
      ...[...STEP_TOOLS].flatMap(([tool, names]) => (names === undefined ? [] : [[tool, names] as const])),
    ]),
);

/** Parses a rule: `TOOL`, or `TOOL:ARG=PATTERN` with further `:ARG=PATTERN`. Returns a text that says what is wrong with it. */
export function parsePermissionRule(written: string): PermissionRule | string {
  const text = written.trim();
  if (text === '') return 'it is empty';
  if (text.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  if (/[[\]]/.test(text)) return 'sets of characters in brackets are not supported, only * and ?';
  const starts = [...text.matchAll(ARGUMENT)];
  const tool = text.slice(0, starts[0]?.index ?? text.length).trim();
  const args = starts.map((start, i) => ({
    name: start[1] ?? '',
    pattern: text.slice(start.index + start[0].length, starts[i + 1]?.index ?? text.length).trim(),
  }));
  const empty = args.find((arg) => arg.pattern === '');
  if (empty !== undefined) return `${empty.name}= has no pattern`;
  if (!/^(?:mcp:[^:\s=]+(?::[^:\s=]+)?|[^:\s=]+)$/.test(tool))
    return `${JSON.stringify(tool)} is not a valid tool name`;
  return { text, tool, args };
}

/** Returns the argument of a built-in tool that rules compare: its command, path or address; undefined for other tools. */
export function comparedIn(tool: string): string | undefined {
  const known = builtInOf(tool);
  if (known === undefined) return undefined;
  if (takes(known, 'command')) return COMMAND_NAME;
  return Object.entries(BUILT_IN[known].arguments).find(([, { kind }]) => kind !== 'plain')?.[0];
}
