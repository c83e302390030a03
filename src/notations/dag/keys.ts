import { AUDIT_FOLDER } from '../../base/own-names.js';
import { DURATION_PATTERN } from '../../base/duration.js';
import { any, either, flag, integer, list, map, named, names, text, texts, variants, word } from '../../text/forms.js';
import { NAME_FORM, VARIABLE_FORM } from '../../text/names.js';
import { PROVIDER_NAMES } from '../../plan/providers.js';
import { ASK_KEYS } from '../ask-keys.js';
import { FILE_BUDGET, STEP_BUDGET } from '../budget-key.js';
import { SECURITY_KEY } from '../security-key.js';
import { CALL_KEYS, END_KEYS, ENDORSE, WAIT_KEYS } from '../step-keys.js';
import { DECLARATION_KEYS } from '../declarations-key.js';
import { INPUTS } from '../inputs-key.js';
import { LOOP_KEYS } from '../loop-keys.js';
import { MAP_KEYS } from '../map-keys.js';
import { CONVERSATION } from '../model-call-keys.js';
import { JSON_SCHEMA, SHORT_SCHEMA, STEP_SCHEMA } from '../schema-form.js';
import { SUPERVISE, SUPERVISE_WHOLE } from '../supervise-key.js';
import { callForms, callsOr } from '../tool-keys.js';
import { SET_KEYS, VALUES } from '../values-key.js';
import { MODEL, NAMED_IN_AGENTS, TRAITS } from './agent-keys.js';

const MANY = 1_000_000;

const ON_ERROR = ['fail', 'continue', 'skip', 'retry'] as const;

export const CONDITION = map(
  {
    step: text('the step whose output is looked at; needed for all but cel'),
    contains: text('the output contains this text'),
    not_contains: text('the output does not contain this text'),
    equals: text('the output is this text'),
    matches_json: any('the output is JSON and has at least these values'),
    cel: text(
      'an expression of the Common Expression Language is true; it knows output, steps.ID.output and inputs.NAME',
    ),
  },
  'whether the step runs at all; everything that is named must hold',
  { insteadOfText: 'write an expression as condition: { cel: "steps.ID.output == \'yes\'" }' },
);

export const ANSWER = map(
  {
    step: text('the id of the step that runs', { needed: true }),
    about: text('what the agent learns about the answer'),
  },
  'a step, and what the agent learns about it',
);

const EVERY_STEP = {
  id: text('unique; the name in references, folders and events', { ...NAME_FORM, needed: true }),
  type: text('what the step does'),
  depends_on: texts('steps that must have ended'),
  condition: CONDITION,
} as const;

/** The keys of a step that works and can fail. */
const ANY_STEP = {
  ...EVERY_STEP,
  on_error: word(ON_ERROR, 'what happens when the step fails', { default: 'fail' }),
  retry_count: integer('repetitions of a failed attempt', { min: 0, max: 100, default: 0 }),
  timeout: text('for each attempt: 90s, 10m, 1h30m', { pattern: DURATION_PATTERN, from: 'string', blank: true }),
  budget: named('budget'),
  security: named('security'),
  endorse: ENDORSE,
} as const;

const CALLS = callForms(ANY_STEP);

export const STEP = map(
  {
    ...ANY_STEP,
    agent: text('the name of an agent', { needed: true }),
    prompt: text('what the agent is asked; {{steps.ID.output}} and {{inputs.NAME}} are filled in', { needed: true }),
    schema: STEP_SCHEMA,
    skills: texts('skills in addition to those of the workflow'),
    supervise: SUPERVISE,
    model: MODEL,
    extra_dirs: texts('further directories that the file tools may read, relative to the working directory'),
    interactive: flag('whether the agent may ask a person'),
    choose: names(
      either([text('the id of a step', { needed: true }), ANSWER], 'the step that runs when the agent answers so', {
        needed: true,
      }),
      'the agent chooses one of these steps by the call of a tool; the others are skipped. Each depends on this step alone',
      { pattern: NAME_FORM.pattern },
    ),
    ...CONVERSATION,
  },
  'a step: one prompt to one agent',
);

const STEPS = list(
  { ...named('step'), needed: true },
  "the steps; those that don't depend on each other run in parallel",
  {
    min: 1,
    needed: true,
  },
);

export const STEP_FORMS = {
  agent: STEP,
  loop: map(
    { ...ANY_STEP, ...LOOP_KEYS, steps: STEPS, supervise: SUPERVISE_WHOLE },
    'steps again and again, until something holds',
  ),
  map: map({ ...ANY_STEP, ...MAP_KEYS, steps: STEPS, supervise: SUPERVISE_WHOLE }, 'steps for each item of a list'),
  ask: map({ ...EVERY_STEP, on_error: ANY_STEP.on_error, ...ASK_KEYS }, 'asks a person'),
  call: map({ ...ANY_STEP, ...CALL_KEYS, supervise: SUPERVISE_WHOLE }, 'runs another file'),
  wait: map(
    { ...EVERY_STEP, on_error: ANY_STEP.on_error, ...WAIT_KEYS },
    'waits for time to pass, or for an outside event',
    { some: ['for', 'event'] },
  ),
  end: map({ ...EVERY_STEP, ...END_KEYS }, 'ends the file; what still runs is cancelled'),
  set: map({ ...EVERY_STEP, on_error: ANY_STEP.on_error, ...SET_KEYS }, 'makes values of others'),
  ...CALLS,
} as const;

export const TRUNCATE = map(
  {
    strategy: word(['chars', 'lines', 'tokens'], 'what is counted', { default: 'chars' }),
    limit: integer('how much stays; 0 for everything', { min: 0, max: 1_000_000_000 }),
    keep: word(['first', 'last'], 'which end stays', { default: 'first' }),
  },
  'cuts long outputs',
);

export const MEMORY = map(
  {
    enabled: flag('the agents of a run share a text', { default: false }),
    inject_into_prompt: flag('prompts begin with the text', { default: false }),
    initial_content: text('what it says at first'),
    initial_file: text('a file with what it says at first, relative to the workflow file'),
  },
  'a text that all agents of a run share',
);

export const PROVIDER = map(
  {
    type: word(PROVIDER_NAMES, 'the kind of provider', { needed: true }),
    base_url: text('where it is reached', { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://', blank: true }),
    api_key_env: text('the variable of the environment that holds the key', { pattern: VARIABLE_FORM, blank: true }),
  },
  'where models are called',
);

export const TELEMETRY = map({ otlp_endpoint: any('accepted and without effect') }, 'accepted and without effect');

export const CONFIG = map(
  {
    model: MODEL,
    audit_dir: text('folder of the run folders, relative to the working directory', { default: AUDIT_FOLDER }),
    audit_retention: integer('how many run folders stay; 0 keeps all', { min: 0, max: MANY, default: 0 }),
    shared_memory: MEMORY,
    provider: PROVIDER,
    streaming: flag('show text as it arrives, and record it', { default: false }),
    log_level: word(['debug', 'info', 'warn', 'error'], 'what is reported', { default: 'info' }),
    agent_search_paths: texts('further folders with agent files'),
    max_concurrency: integer('how many steps run at once; 0 or less means no limit', { max: MANY }),
    interactive: flag("whether steps that don't say may ask a person", { default: false }),
    truncate: TRUNCATE,
    telemetry: TELEMETRY,
  },
  'models, memory, audit folder, limits',
);

export const OUTPUT = map(
  {
    steps: texts('the steps whose output is printed, in this order; by default all'),
    format: word(['markdown', 'plain', 'text', 'json'], 'how it is printed', { default: 'markdown', open: true }),
    truncate: TRUNCATE,
    values: VALUES,
  },
  'what is printed, and how',
);

export const INLINE = map(
  {
    description: TRAITS.description,
    prompt: text('the system prompt; {{inputs.NAME}} is filled in'),
    tools: TRAITS.tools,
    approve: TRAITS.approve,
    model: TRAITS.model,
    checks: TRAITS.checks,
    cache: TRAITS.cache,
    sandbox: TRAITS.sandbox,
    max_tokens: TRAITS.max_tokens,
    'mcp-servers': TRAITS['mcp-servers'],
  },
  'an agent that is written here',
);

export const AGENT = map(
  { file: text('an agent file, relative to the workflow file'), inline: INLINE },
  'an agent: a file, or a prompt that is written here',
  { needed: true, some: ['file', 'inline'] },
);

export const WORKFLOW = map(
  {
    name: text('one line, at most 200 characters', { needed: true, longest: 200, pattern: '\\S' }),
    description: text('what the workflow is for'),
    inputs: INPUTS,
    config: CONFIG,
    supervise: SUPERVISE,
    budget: FILE_BUDGET,
    security: named('security'),
    ...DECLARATION_KEYS,
    agents: names(AGENT, 'the agents by name; without this section they are found in the agent folders'),
    'mcp-servers': TRAITS['mcp-servers'],
    skills: texts('skills of all steps'),
    steps: STEPS,
    finally: list(
      named('step'),
      'steps that run when all others have ended, however they did, but not while the run waits',
      {
        min: 1,
      },
    ),
    output: OUTPUT,
  },
  'a workflow of steps that depend on each other',
);

/** Forms used in several places, by name. */
export const NAMED = {
  budget: STEP_BUDGET,
  security: SECURITY_KEY,
  ...NAMED_IN_AGENTS,
  step: callsOr(CALLS, variants('type', STEP_FORMS, { without: STEP, blank: true, about: 'a step' })),
  'json-schema': JSON_SCHEMA,
  'short-schema': SHORT_SCHEMA,
};
