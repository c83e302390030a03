import {
  any,
  either,
  flag,
  integer,
  list,
  map,
  named,
  names,
  text,
  texts,
  variants,
  word,
  type Form,
} from '../../text/forms.js';
import { CACHE } from '../model-call-keys.js';
import { FILE_BUDGET, STEP_BUDGET } from '../budget-key.js';
import { DECLARATION_KEYS } from '../declarations-key.js';
import { ENDORSE } from '../step-keys.js';
import { SECURITY_KEY } from '../security-key.js';
import { SUPERVISE } from '../supervise-key.js';
import { IDENTIFIER, MANY, NEEDED, anyMap, type Dialect } from './dialect.js';

const bound = (about: string): Form => integer(about, { min: 1, max: MANY });

/** The settings of a state or of a composition. */
const OF_PART = { supervise: SUPERVISE, budget: STEP_BUDGET, security: SECURITY_KEY } as const;

const OF_STATE = { ...OF_PART, endorse: ENDORSE } as const;

export function workflowForm({ schema, newer, words }: Dialect): Form {
  const budget = map(
    {
      max_total_visits: bound('entries of all states'),
      max_tool_calls: bound('calls of tools'),
      max_wall_time_sec: bound('seconds'),
    },
    'bounds of the workflow',
    // 1.5.0 does not specify the bounds. A wrong type is still an error, never an absent bound.
    { open: schema !== '1.4' },
  );
  const skein = map(
    {
      supervise: SUPERVISE,
      budget: FILE_BUDGET,
      security: SECURITY_KEY,
      ...DECLARATION_KEYS,
      cache: CACHE,
      states: names(map(OF_STATE, 'settings of this state alone'), 'by state'),
    },
    'settings that only Skein reads',
  );
  const artifact = map(
    {
      type: text('MIME type', NEEDED),
      description: text('what it holds'),
      mode: word(['replace', 'append'], 'how a value is set', { exact: true }),
    },
    'an artifact',
  );
  const state = map(
    {
      prompt_task: text('prompt', { needed: schema === '1.4' }),
      description: text('what it is for'),
      on_event: names(text(''), 'target by event'),
      persistence: words(['transient', 'persistent'], 'whether its messages are kept'),
      orchestration: words(['internal', 'external', 'hybrid', 'composition'], 'who fires its events'),
      ...newer({ composition: text('composition that answers') }),
      skills: text('skills, or none'),
      terminal: flag('whether it is an end'),
      max_visits: bound('entries'),
      on_max_visits: text('where further entries go'),
      artifacts: names(artifact, 'artifacts by name'),
    },
    'a state',
  );
  return map(
    {
      version: integer('1 or 2', { needed: true, min: 1, max: MANY }),
      entry: text('first state', NEEDED),
      states: names(state, 'states by name', { needed: true, min: 1 }),
      engine: map({ budget, skein }, 'settings of the runtime', { open: true }),
    },
    'the state machine',
  );
}

export const TOOL = map(
  {
    name: text('name', { needed: true, pattern: IDENTIFIER }),
    description: text('what it does', NEEDED),
    parameters: map(
      {
        type: word(['object'], '', { needed: true, exact: true }),
        properties: names(anyMap(''), 'schemas by name', NEEDED),
        required: texts('names of the required parameters'),
      },
      'a JSON Schema',
      { open: true },
    ),
  },
  'a tool',
);

/** A skill that is more than a path. */
export const SKILL = map(
  {
    path: text('folder or file'),
    preload: flag('whether it is loaded from the start'),
    name: text('name', { blank: false }),
    description: text('what it is for'),
    instructions: text('what it says', { blank: false }),
  },
  'a skill',
  { one: ['path', 'instructions'] },
);

const output_schema = text('name of the schema of its output');
const input = either([text(''), anyMap('')], 'what it is given');
const prompt_task = text('prompt', NEEDED);

const COMMON = {
  id: text('name', { needed: true, pattern: IDENTIFIER }),
  kind: text('kind', NEEDED),
  description: text('what it does'),
  depends_on: texts('steps that it waits for'),
  modifiers: map(
    { retry: map({ max_attempts: bound('attempts in all') }, '', { open: true }), eval: texts('checks of quality') },
    'how it is carried out',
    { open: true },
  ),
};

/** The targets of a branch, as pairs: the linter takes an object literal with a key `then` for a promise. */
const TARGETS: readonly (readonly [string, Form])[] = [
  ['then', text('step', NEEDED)],
  ['else', text('step')],
];

const TERMINATION = map(
  { max_steps: bound('rounds'), tool_called: text('tool whose call ends it') },
  'when it is over',
  { needed: true, open: true, some: ['max_steps', 'tool_called'] },
);

export const STEP = variants(
  'kind',
  {
    prompt: map({ ...COMMON, prompt_task, input, output_schema }, 'a prompt', { open: true }),
    agent: map(
      { ...COMMON, prompt_task, input, tools: texts('tools'), termination: TERMINATION, output_schema },
      'an agent',
      {
        open: true,
      },
    ),
    tool: map({ ...COMMON, tool: text('tool', NEEDED), args: anyMap('arguments') }, 'a call of a tool', { open: true }),
    branch: map(
      { ...COMMON, predicate: { ...named('predicate'), needed: true }, ...Object.fromEntries(TARGETS) },
      'a choice',
      {
        open: true,
      },
    ),
    parallel: map(
      {
        ...COMMON,
        branches: list(named('step'), 'steps', { needed: true, min: 2 }),
        reduce: map(
          {
            strategy: word(['append', 'replace', 'barrier'], 'how outputs come together', {
              needed: true,
              exact: true,
            }),
            into: text('name of the result', NEEDED),
          },
          'what becomes of the outputs',
          { needed: true, open: true },
        ),
      },
      'steps that run at the same time',
      { open: true },
    ),
  },
  { exact: true },
);

export const PREDICATE = map(
  {
    path: text('value that is looked at'),
    op: word(
      [
        'equals',
        'not_equals',
        'in',
        'not_in',
        'less_than',
        'less_than_or_equals',
        'greater_than',
        'greater_than_or_equals',
      ],
      'how it is compared',
      { exact: true },
    ),
    value: any('what it is compared with'),
    exists: flag('whether it must be there'),
    all_of: list(named('predicate'), 'all must hold'),
    any_of: list(named('predicate'), 'one must hold'),
    not: named('predicate'),
  },
  'a condition',
  { open: true, one: ['op', 'exists', 'all_of', 'any_of', 'not'] },
);

export const COMPOSITION = map(
  {
    version: integer('1', { needed: true, min: 1, max: 1 }),
    description: text('what it does'),
    input_schema: text('name of the schema of its input'),
    output_schema,
    output: text('step whose output is that of the whole'),
    steps: list(named('step'), 'steps', { needed: true, min: 1 }),
    engine: map({ skein: map(OF_PART, 'what only Skein does') }, 'settings of the runtime', {
      open: true,
    }),
  },
  'a composition',
);
