import { DURATION_PATTERN } from '../base/duration.js';
import { ERROR_CODES } from '../base/errors.js';
import { any, either, flag, integer, list, map, number, text, texts, word, type Form } from './forms.js';

const PHASES = ['commit', 'post', 'supervise', 'screen', 'review'] as const;

const MANY = Number.MAX_SAFE_INTEGER;
const SECONDS = Number.MAX_VALUE;

const delay = (about: string): Form =>
  either([text('', { pattern: DURATION_PATTERN, from: 'string' }), number('', { min: 0, max: SECONDS })], about);

/** Creates a row for texts only: a model does not say numbers. */
const said = (): Form => text('', { from: 'string' });

export const CALL = map(
  { name: text('the tool', { needed: true }), input: any('its input; a text is sent as it is') },
  'a tool call',
);

export const ERROR = map(
  {
    code: word(ERROR_CODES, 'an error code of Skein', { exact: true }),
    status: integer('an HTTP status', { min: 100, max: MANY }),
    message: text('what the error says'),
    retry_after: delay('how long the provider asks to wait: 2s, or a number of seconds'),
  },
  'the call fails',
  { one: ['code', 'status'] },
);

export const QUESTION = map(
  { text: text('what is asked', { needed: true }), choices: texts('answers to choose from') },
  'asks the person with the tool ask_user',
);

export const USAGE = map(
  { input: integer('tokens read', { min: 0, max: MANY }), output: integer('tokens written', { min: 0, max: MANY }) },
  'tokens that are counted; by default a quarter of the characters',
);

export const ANSWER = map(
  {
    text: text('what the model says'),
    json: any('a value, said as JSON text'),
    tools: list(CALL, 'tool calls'),
    error: ERROR,
    question: either([said(), QUESTION], 'asks the person with the tool ask_user'),
    cut: flag('the connection breaks after the text', { default: false }),
    empty: flag('an answer with nothing in it', { default: false }),
    delay: delay('time before the answer: 200ms, or a number of seconds'),
    times: integer('how often it is given before the next one', { min: 1, max: MANY, default: 1 }),
    usage: USAGE,
  },
  'an answer of a model',
  { some: ['text', 'json', 'tools', 'error', 'question', ['cut', true], ['empty', true]] },
);

const GIVEN: Form = either([said(), ANSWER], 'an answer: a text, or a map');

export const RULE = map(
  {
    step: text('the path of the step, or the id of the node'),
    agent: text('the name of the agent'),
    prompt: text('a piece of what the agent is asked'),
    phase: word(
      PHASES,
      'the supervision of the step asks: what it promises, how it went, what follows; without it the work itself',
      {
        exact: true,
      },
    ),
    answer: GIVEN,
    real: flag('the tool that the step calls by itself is called; only true means anything', { only: true }),
    answers: list(GIVEN, 'a sequence: each call of a model takes the next one', { min: 1 }),
    repeat: flag('the last answer is given for ever', { default: false }),
    once: flag('one sequence for the whole run, not one for each step', { default: false }),
    optional: flag('an unused rule is not an error', { default: false }),
  },
  'what answers the calls that fit, and the steps that call a tool by themselves; the first rule that fits counts',
  { one: ['answer', 'answers', 'real'] },
);

export const REPLY = map(
  {
    question: text('a piece of what is asked', { needed: true }),
    answer: text('what the person says', { needed: true }),
    times: integer('how often it is given; by default for ever', { min: 1, max: MANY }),
  },
  'an answer of the person',
);

export const RESULT = map(
  {
    tool: text('the tool', { needed: true }),
    input: any('a piece of the input of the call'),
    result: any('what it gives: a text, or a value, given as JSON', { needed: true }),
  },
  'what a tool of a pack gives that has no function',
);

export const SCRIPT = map(
  {
    strict: flag('a call that no rule plans fails its step, and a rule that is not used fails the run', {
      default: true,
    }),
    rules: list(RULE, 'what models answer'),
    answers: list(REPLY, 'what the person answers'),
    tools: list(RESULT, 'what tools without a function give'),
  },
  'what models answer in a run without a model',
);
