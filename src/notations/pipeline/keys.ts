import {
  any,
  either,
  flag,
  integer,
  list,
  map,
  named,
  names,
  number,
  text,
  texts,
  variants,
  word,
  type Form,
  type MapForm,
} from '../../text/forms.js';
import { NAME_FORM } from '../../text/names.js';
import { ASK_KEYS } from '../ask-keys.js';
import { FILE_BUDGET, STEP_BUDGET } from '../budget-key.js';
import { SECURITY_KEY } from '../security-key.js';
import { DECLARATION_KEYS } from '../declarations-key.js';
import { CALL_KEYS, duration, END_KEYS, ENDORSE, LONGEST_TIMER, REQUIRE_KEY, WAIT_KEYS } from '../step-keys.js';
import { INPUTS } from '../inputs-key.js';
import { LOOP_KEYS } from '../loop-keys.js';
import { MAP_KEYS } from '../map-keys.js';
import { CONVERSATION } from '../model-call-keys.js';
import { SUPERVISE, SUPERVISE_WHOLE } from '../supervise-key.js';
import { callForms, callsOr, type CallType } from '../tool-keys.js';
import { SET_KEYS, VALUES } from '../values-key.js';
import { SECTIONS } from './agents/keys.js';
import { JSON_SCHEMA, SHORT_SCHEMA, STEP_SCHEMA } from '../schema-form.js';
import { UNSUPPORTED } from './agents/unsupported-keys.js';
import { seen, type SourceScalar } from '../../text/nodes.js';
import { isEmptyText, type Fields } from '../../text/shape.js';

/** The values of `type`. `subworkflow` is cagent's name for a sequence. */
export type WrittenType =
  | 'agent'
  | 'condition'
  | 'parallel'
  | 'sequence'
  | 'subworkflow'
  | 'goto'
  | 'loop'
  | 'map'
  | 'ask'
  | 'call'
  | 'wait'
  | 'end'
  | 'set'
  | CallType;

/** The key that selects the outputs shown above an agent's prompt. */
export const CONTEXT = either(
  [text('', { pattern: '^(?:[Aa][Ll][Ll]|[Nn][Oo][Nn][Ee]|\\s*)$' }), texts('')],
  'which outputs so far stand above the prompt: all (default), none, or those of the steps with these ids',
);

/** The outputs shown. Undefined: the surrounding setting, or all. */
export type ContextDef = 'all' | 'none' | readonly SourceScalar[];

/** Reads `context`. Problem codes: `unknown-value`, and those of the types. */
export function readContext(fields: Fields): ContextDef | undefined {
  const node = fields.node('context');
  if (node === undefined || isEmptyText(node)) return undefined;
  if (node.kind === 'list') return fields.texts('context');
  const said = node.kind === 'scalar' ? node.text.toLowerCase() : '';
  if (said === 'all' || said === 'none') return said;
  const hint = 'write all, none, or a list of ids: context: [facts]';
  fields.error('unknown-value', 'context', `context of ${fields.name || 'the workflow'} is ${seen(node)}`, hint);
  return undefined;
}

const MANY = 1_000_000;

/** The classes of `retry.on`: error codes, and parts of messages, such as the status of a provider's error. */
const CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ['timeout', ['SKEIN_TIMEOUT', 'answered 408', 'timeout']],
  ['rate_limit', ['SKEIN_MODEL_OVERLOADED', 'rate_limit']],
  ['overloaded', ['answered 503', 'answered 529', 'overloaded']],
  ['network', ['SKEIN_NETWORK', 'network']],
  ['server', ['SKEIN_MODEL_FAILED']],
  ['tool', ['SKEIN_TOOL_FAILED', 'SKEIN_EXIT', 'SKEIN_MCP']],
]);

export const RETRY_CLASSES: readonly string[] = [...CLASSES.keys()];

/** Returns what a word of `retry.on` is compared with: the entries of its class, or the word itself as part of a message. */
export function retriedBy(name: string): readonly string[] {
  return CLASSES.get(name.toLowerCase()) ?? [name];
}

export const RETRY = map(
  {
    max_attempts: integer('how often it is tried again: 2 means up to three attempts', {
      min: 0,
      max: 100,
      default: 0,
    }),
    retries: integer('another name for max_attempts', { min: 0, max: 100 }),
    backoff: word(['fixed', 'exponential'], 'the same delay each time, or twice as long each time', {
      default: 'fixed',
    }),
    initial_delay: duration('the first delay: 500ms, 2s, or a number of seconds', 0),
    initial_delay_seconds: number('the same as a number', { min: 0, max: LONGEST_TIMER }),
    jitter: either(
      [flag(''), number('', { min: 0, max: 1 })],
      'how much of the delay is drawn at random, 0 to 1; true is 0.1',
    ),
    on: list(
      text('', { needed: true }),
      `classes of errors (${RETRY_CLASSES.join(', ')}), or parts of their messages; by default any error`,
      { min: 1 },
    ),
  },
  'whether a failed step is tried again',
);

const WHEN = text('the step runs only where this holds; without it the next one runs', { blank: false });

const ON_ERROR = word(['fail', 'continue'], 'what happens when the step fails', { default: 'fail' });

/** The keys of steps that can be retried. */
export const POLICIES = {
  when: WHEN,
  timeout: duration('for each attempt: 90s, 10m, 1h30m, or a number of seconds', 0.0005),
  on_error: ON_ERROR,
  retry: named('retry'),
  budget: named('budget'),
  security: named('security'),
  endorse: ENDORSE,
} as const;

/** The policies of steps that contain others. */
const POLICIES_OF_BLOCKS = { ...POLICIES, supervise: SUPERVISE_WHOLE } as const;

/** The default limit of each jump back. */
export const DEFAULT_LOOPS = 100;

/** The key that sets the limit of each jump back. */
export const LOOPS = {
  max_loop_iterations: integer('how often each jump back may be made', { max: MANY, default: DEFAULT_LOOPS }),
};

const STEP = named('step');
const STEPS = { ...list(STEP, 'the steps', { min: 1 }), needed: true };

export const WORKFLOW = map(
  { steps: STEPS, ...LOOPS, context: CONTEXT, overrides: map(LOOPS, 'takes precedence over the value next to it') },
  'the steps, and how often jumps back may be made',
);

const IDENTITY = {
  id: text('the name in references', NAME_FORM),
  type: text('what the step does'),
} as const;

const NAME = any('has no effect here');

export const JUMP_LIMITS = {
  max: integer('how often this jump back is made at most; by default max_loop_iterations', { min: 1, max: MANY }),
  on_limit: word(['fail', 'continue'], 'what happens then: continue goes to the next step, and the run is degraded', {
    default: 'fail',
  }),
} as const;

const TARGET = text('the id or the place of a step of the same block', { blank: false });

export const GOTO = map(
  { ...IDENTITY, goto: { ...TARGET, needed: true }, ...JUMP_LIMITS },
  'continues at another step',
);

const branch = (about: string): Form =>
  either([list(STEP, '', { min: 1 }), { ...GOTO, keys: { ...GOTO.keys, type: word(['goto'], '') } }], about, {
    filled: true,
  });

/** An answer of `choose` that is not a plain list of steps. */
export const ANSWER = map(
  {
    about: text('what the agent learns about the answer'),
    steps: list(STEP, 'the steps', { min: 1, blank: false }),
    goto: TARGET,
    ...JUMP_LIMITS,
  },
  'the steps, or a jump, and what the agent learns about it',
  { one: ['steps', 'goto'] },
);

export const CASE = map(
  {
    when: text('when it is taken: {{ $steps.ID.output }}, or an expression', { needed: true }),
    steps: list(STEP, 'the steps', { min: 1, blank: false }),
    goto: TARGET,
    ...JUMP_LIMITS,
  },
  'the steps, or a jump, and when it is taken',
  { one: ['steps', 'goto'] },
);

const CALL = map(
  {
    ...IDENTITY,
    ...CALL_KEYS,
    prompt: text('the prompt of the pipeline; by default that of the run'),
    ...POLICIES_OF_BLOCKS,
  },
  'runs another file',
);

const CALLS = callForms({ ...IDENTITY, name: NAME, ...POLICIES });

/** The keys of a step, by its type. In cagent any step may have a `name`, even without effect. */
export const STEP_FORMS: Readonly<Record<WrittenType, MapForm>> = {
  agent: map(
    {
      ...IDENTITY,
      name: text('the agent', { needed: true }),
      prompt: text('its prompt, below the outputs so far; by default that of the run'),
      context: CONTEXT,
      schema: STEP_SCHEMA,
      choose: names(
        either([list(STEP, '', { min: 1 }), ANSWER], 'what runs when the agent answers so', { needed: true }),
        'the agent chooses one of these by the call of a tool; without the call the next step runs',
        { pattern: NAME_FORM.pattern },
      ),
      ...CONVERSATION,
      ...POLICIES,
      supervise: SUPERVISE,
    },
    'asks an agent',
  ),
  condition: map(
    {
      ...IDENTITY,
      name: NAME,
      condition: text('what decides: {{ $steps.ID.output }}, or an expression', { blank: false }),
      true: branch('the steps when it holds, or {goto: ID}'),
      false: branch('the steps when it does not hold, or {goto: ID}'),
      cases: list({ ...CASE, needed: true }, 'instead of condition: the first case that holds is taken', {
        min: 1,
        blank: false,
      }),
      else: branch('the steps when no case holds, or {goto: ID}'),
    },
    'continues with one of several lists of steps',
    {
      one: ['condition', 'cases'],
      some: ['true', 'false', 'cases'],
      apart: [
        ['cases', 'true'],
        ['cases', 'false'],
        ['condition', 'else'],
      ],
    },
  ),
  parallel: map(
    { ...IDENTITY, name: NAME, steps: STEPS, ...REQUIRE_KEY, ...POLICIES_OF_BLOCKS },
    'runs steps at the same time',
  ),
  sequence: map(
    { ...IDENTITY, name: NAME, steps: STEPS, ...POLICIES_OF_BLOCKS },
    'runs steps one after the other, as one step',
  ),
  subworkflow: map(
    {
      ...IDENTITY,
      name: NAME,
      workflow: either([STEPS, WORKFLOW], 'the steps: a list, or a map with steps', { needed: true }),
      ...POLICIES_OF_BLOCKS,
    },
    'the same, under its cagent name',
  ),
  goto: GOTO,
  loop: map(
    { ...IDENTITY, ...LOOP_KEYS, steps: STEPS, ...POLICIES_OF_BLOCKS },
    'runs its steps again and again, until something holds',
  ),
  map: map({ ...IDENTITY, ...MAP_KEYS, steps: STEPS, ...POLICIES_OF_BLOCKS }, 'runs its steps for each item of a list'),
  ask: map({ ...IDENTITY, ...ASK_KEYS, when: WHEN, on_error: ON_ERROR }, 'asks a person'),
  call: CALL,
  end: map({ ...IDENTITY, when: WHEN, ...END_KEYS }, 'ends the file; what still runs is cancelled'),
  set: map({ ...IDENTITY, ...SET_KEYS, when: WHEN, on_error: ON_ERROR }, 'makes values of others'),
  wait: map(
    { ...IDENTITY, ...WAIT_KEYS, when: WHEN, on_error: ON_ERROR },
    'waits for time to pass, or for an outside event',
    {
      some: ['for', 'event'],
    },
  ),
  ...CALLS,
};

/** Forms used in several places, by name. */
export const NAMED = {
  step: callsOr(CALLS, variants('type', STEP_FORMS, { without: GOTO, about: 'a step' })),
  retry: RETRY,
  budget: STEP_BUDGET,
  security: SECURITY_KEY,
  'json-schema': JSON_SCHEMA,
  'short-schema': SHORT_SCHEMA,
};

export const OUTPUT = map({ values: VALUES }, 'what the run gives; by default what its steps have given');

export const FILE = map(
  {
    ...SECTIONS,
    supervise: SUPERVISE,
    inputs: INPUTS,
    output: OUTPUT,
    budget: FILE_BUDGET,
    security: named('security'),
    ...DECLARATION_KEYS,
    workflow: either(
      [STEPS, WORKFLOW],
      'the steps; without it the agent root, or else the first one, is the only step',
      {
        filled: true,
      },
    ),
    finally: list(STEP, 'steps that run when all others have ended, however they did, but not while the run waits', {
      min: 1,
    }),
  },
  'a list of steps that run one after the other',
  { foreign: UNSUPPORTED.file, some: ['workflow', ['agents', 'entries']] },
);
