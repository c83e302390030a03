import { isPlainObject, type Json } from '../base/json.js';
import { any, list, names, object, TEXT, type Keys } from './form.js';

/**
 * Calls that a workflow's agents may make although untrusted text influenced them. Declarations apply to a run of the workflow itself, not
 * if another workflow calls it.
 *
 * @example
 * const declared: Declarations = { hosts: ['api.github.com'], sends: [{ tool: 'github/create_comment', fixed: { pr: '{{pr}}' }, free: ['body'] }] };
 */
export interface Declarations {
  /** Hosts that agents may contact: `example.com`; `*.example.com` is it and every host below it. A port is part of the name. */
  readonly hosts?: readonly string[];
  /** Whole command lines, word by word. */
  readonly commands?: readonly (readonly string[])[];
  /** Calls that change or send something outside. */
  readonly sends?: readonly DeclaredSend[];
}

/** A permitted call: every argument has a fixed value or is free. */
export interface DeclaredSend {
  /** The tool's name for agents: `SERVER/TOOL`, or a function of the program. */
  readonly tool: string;
  /** Arguments with their only permitted value. In texts, `{{NAME}}` is the workflow's input, provided the user gave it. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** Arguments that may have any value. */
  readonly free?: readonly string[];
}

export const DECLARATIONS: Keys<Declarations> = {
  'hosts?': list(TEXT),
  'commands?': list(list(TEXT)),
  'sends?': list(object<DeclaredSend>({ tool: TEXT, 'fixed?': names(any<Json>()), 'free?': list(TEXT) })),
};

/** Their names, in the order in which they are listed. */
export const DECLARED = ['hosts', 'commands', 'sends'] as const satisfies readonly (keyof Declarations)[];

/** Picks the declarations out of a larger object, such as the settings of a graph. */
export function declarationsOf({ hosts, commands, sends }: Declarations): Declarations {
  return {
    ...(hosts !== undefined && { hosts }),
    ...(commands !== undefined && { commands }),
    ...(sends !== undefined && { sends }),
  };
}

export interface DeclarationFault {
  readonly key: (typeof DECLARED)[number];
  readonly index: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const HOST =
  /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Returns the problems that the form can't express. `inputs` are the names of the workflow's inputs; absent: any name is accepted. Problem
 * codes: `bad-host`, `bad-command`, `bad-send`, `unknown-input`.
 */
export function declarationFaults(
  { hosts = [], commands = [], sends = [] }: Declarations,
  inputs?: readonly string[],
): readonly DeclarationFault[] {
  return [
    ...hosts.flatMap((host, index): DeclarationFault[] => {
      if (HOST.test(host.trim())) return [];
      const message = `hosts: ${JSON.stringify(host)} is not the name of a host`;
      return [
        {
          key: 'hosts',
          index,
          code: 'bad-host',
          message,
          hint: 'write example.com or *.example.com, without https://',
        },
      ];
    }),
    ...commands.flatMap((words, index): DeclarationFault[] => {
      if ((words[0] ?? '').trim() !== '') return [];
      const message = 'commands: an entry names no program';
      return [
        { key: 'commands', index, code: 'bad-command', message, hint: 'write [npm, test]: program and arguments' },
      ];
    }),
    ...sends.flatMap((send, index) =>
      [...sendFaults(send, inputs)].map((fault) => ({ key: 'sends' as const, index, ...fault })),
    ),
  ];
}

function* sendFaults(
  { tool, fixed = {}, free = [] }: DeclaredSend,
  inputs: readonly string[] | undefined,
): Generator<Pick<DeclarationFault, 'code' | 'message' | 'hint'>> {
  const about = `sends: ${tool.trim() === '' ? 'an entry' : tool}`;
  if (tool.trim() === '' || /[*\s]/.test(tool)) {
    const hint = 'write SERVER/TOOL, such as github/create_comment';
    yield { code: 'bad-send', message: `${about} names no single tool`, hint };
  }
  const both = free.find((name) => Object.hasOwn(fixed, name));
  if (both !== undefined)
    yield { code: 'bad-send', message: `${about}: ${both} is fixed and free`, hint: 'keep it in one of the two' };
  const unknown = inputsIn(fixed).find((name) => inputs?.includes(name) === false);
  if (unknown !== undefined) {
    const message = `${about}: {{${unknown}}} is not an input of the workflow`;
    const hint = inputs?.length === 0 ? 'declare it under inputs' : `inputs are: ${inputs?.join(', ')}`;
    yield { code: 'unknown-input', message, hint };
  }
}

const INPUT = /\{\{\s*(?:inputs\.)?([\w-]+)\s*\}\}/g;

function inputsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(INPUT)].map(([, name = '']) => name);
  if (Array.isArray(value)) return value.flatMap(inputsIn);
  return isPlainObject(value) ? Object.values(value).flatMap(inputsIn) : [];
}

/**
 * Fills the declared calls with the values of the run. A call that refers to a value which the user did not give is left out, so that a
 * person is asked. `valueOf` returns undefined for such a value.
 */
export function filledSends(
  sends: readonly DeclaredSend[],
  valueOf: (input: string) => { readonly value: unknown } | undefined,
): readonly DeclaredSend[] {
  return sends.flatMap((send) => {
    if (inputsIn({ ...send.fixed }).some((name) => valueOf(name) === undefined)) return [];
    const fixed = Object.entries(send.fixed ?? {}).map(([name, value]) => [name, filled(value, valueOf)] as const);
    return [{ ...send, fixed: Object.fromEntries(fixed) }];
  });
}

function filled(value: Json, valueOf: (input: string) => { readonly value: unknown } | undefined): Json {
  if (Array.isArray(value)) return value.map((one) => filled(one as Json, valueOf));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, valueOf)]));
  if (typeof value !== 'string') return value;
  const [whole] = value.matchAll(INPUT);
  // A text that is exactly one reference keeps the type: a number stays a number.
  if (whole?.[0] === value) return valueOf(whole[1] ?? '')?.value as Json;
  return value.replace(INPUT, (_, name: string) => textOf(valueOf(name)?.value));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Formats a declared call on one line: `github/create_comment with pr "7"; free: body`. */
export function sendText({ tool, fixed = {}, free = [] }: DeclaredSend): string {
  const said = Object.entries(fixed).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${tool}${said.length === 0 ? '' : ` with ${said.join(', ')}`}${free.length === 0 ? '' : `; free: ${free.join(', ')}`}`;
}
