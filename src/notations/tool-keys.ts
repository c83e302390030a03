import { any, divided, flag, list, map, names, text, word, type Form, type Keys } from '../text/forms.js';
import { VARIABLE_FORM } from '../text/names.js';
import { SANDBOX } from './model-call-keys.js';
import { STEP_SCHEMA } from './schema-form.js';

const EFFECTS = ['once', 'idempotent', 'read'] as const;

const BOTH = {
  schema: STEP_SCHEMA,
  effect: word(EFFECTS, 'what a crash in the middle means: a person is asked (once), or the call is made again'),
  approve: flag('a person must allow the call', { default: false }),
} as const;

export const RUN_KEYS = {
  run: list(
    text('', { needed: true, blank: true }),
    'the command: a program and its arguments, each an item; there is no shell',
    { min: 1, needed: true },
  ),
  stdin: text('what the command reads; without it nothing'),
  env: names(
    text('', { blank: true }),
    'variables of the command, in addition to the usual ones; ${NAME} stands for one of the environment',
    { pattern: VARIABLE_FORM },
  ),
  result: word(
    ['text', 'all'],
    'text: the output, and another exit code than 0 fails the step; all: { exit_code, stdout, stderr }',
    { default: 'text' },
  ),
  sandbox: SANDBOX,
  ...BOTH,
} as const;

export const TOOL_KEYS = {
  tool: text('a built-in tool, or SERVER/TOOL of a tool server of the file', { needed: true }),
  input: names(any(''), 'what the tool is called with; a text that is one reference keeps the type of its value'),
  ...BOTH,
} as const;

/** The rows of steps that call a tool directly, read as plain values. */
export const CALL_ROWS = map(
  { result: RUN_KEYS.result, sandbox: SANDBOX, effect: BOTH.effect, approve: BOTH.approve },
  '',
);

/** The keys that mark a step that calls a tool directly. */
export const CALL_TYPES = ['run', 'tool'] as const;

/** A kind of step without a model, by the key that marks it. */
export type CallType = (typeof CALL_TYPES)[number];

/** Returns a form for a step with the key `run` or `tool`, or else another step. */
export function callsOr({ run, tool }: Readonly<Record<CallType, Form>>, other: Form): Form {
  const needed = { needed: true } as const;
  const orTool = { ...divided(['tool'], { with: tool, without: other }), ...needed };
  return { ...divided(['run'], { with: run, without: orTool }), ...needed };
}

/** Builds the forms of these steps. `own` are the keys of all steps in the notation. */
export function callForms(own: Keys): Readonly<Record<CallType, ReturnType<typeof map>>> {
  const typed = (type: CallType): Keys => ({
    ...own,
    type: word([type], 'what the step does', { blank: true }),
  });
  return {
    run: map({ ...typed('run'), ...RUN_KEYS }, 'runs a command, without a model'),
    tool: map({ ...typed('tool'), ...TOOL_KEYS }, 'calls a tool, without a model'),
  };
}
