import {
  any,
  flag,
  integer,
  list,
  map,
  named,
  names,
  number,
  text,
  texts,
  word,
  type Form,
  type Keys,
} from '../../text/forms.js';
import { IDENTIFIER, MANY, NEEDED, VERSION, WRITTEN, anyMap, type Dialect } from './dialect.js';

const whole = (about: string, min = 1): Form => integer(about, { min, max: MANY });
const least = (about: string): Form => number(about, { min: 0, max: Number.MAX_VALUE });
const anyNumber = number('', { min: -Number.MAX_VALUE, max: Number.MAX_VALUE });

const TESTED_MODEL = map(
  {
    provider: text('', NEEDED),
    model: text('', NEEDED),
    date: text('', NEEDED),
    success_rate: number('', { min: 0, max: 1 }),
    avg_tokens: least(''),
    avg_cost: least(''),
    avg_latency_ms: least(''),
    notes: text(''),
  },
  'a model that it was tried with',
);

const MODEL_OVERRIDE = map(
  {
    system_template_prefix: text('put before the template'),
    system_template_suffix: text('put after it'),
    system_template: text('replaces the template'),
    parameters: named('parameters'),
  },
  'changes for a model',
);

export function promptForm(dialect: Dialect): Form {
  return map(
    {
      id: text('name', { needed: true, pattern: '^[a-z][a-z0-9_-]*$' }),
      name: text('name for people', WRITTEN),
      description: text('what it is for'),
      version: text('version', { needed: true, pattern: VERSION }),
      system_template: text('what the model is', WRITTEN),
      variables: list(variableForm(dialect), 'values of the template'),
      tools: texts('tools that it may call'),
      tool_policy: map(
        {
          tool_choice: word(['auto', 'required', 'none'], 'whether tools are called', { exact: true }),
          max_rounds: whole('rounds of calls in a turn'),
          max_tool_calls_per_turn: whole('calls in a turn'),
          blocklist: texts('tools that it may not call'),
        },
        'how tools are called',
      ),
      pipeline: map(
        {
          stages: texts('stages', NEEDED),
          middleware: list(map({ type: text('', NEEDED), config: anyMap('') }, ''), ''),
        },
        'kept, not used',
      ),
      parameters: named('parameters'),
      validators: list(validatorForm(dialect), 'checks of answers'),
      evals: list(named('eval'), 'checks of quality; kept, not run'),
      tested_models: list(TESTED_MODEL, 'kept, not used'),
      model_overrides: names(MODEL_OVERRIDE, 'changes for models by name'),
      media: named('media'),
    },
    'a prompt',
  );
}

function validatorForm({ is15, older }: Dialect): Form {
  return map(
    {
      type: text('what is checked', WRITTEN),
      enabled: flag('whether it is', is15 ? NEEDED : {}),
      fail_on_violation: flag('whether an answer that fails ends the step'),
      params: anyMap('of the check'),
      ...older({ message: text('what is said when it fails') }),
    },
    'a check of answers',
  );
}

function variableForm({ words, older }: Dialect): Form {
  return map(
    {
      name: text('name', { needed: true, pattern: IDENTIFIER }),
      type: words(['string', 'number', 'boolean', 'object', 'array'], 'type', NEEDED),
      required: flag('whether a value must be given', NEEDED),
      default: any('value when none is given'),
      description: text('what it is for'),
      example: any('an example'),
      validation: map(
        {
          pattern: text('regular expression'),
          min_length: whole('', 0),
          max_length: whole(''),
          minimum: anyNumber,
          maximum: anyNumber,
          enum: list(any(''), 'all values that it may have'),
        },
        'what values it may have',
      ),
      ...older({
        binding: map(
          { kind: text(''), field: text(''), auto_populate: flag(''), filter: text('') },
          'where a host takes its value from; kept, not read',
        ),
      }),
    },
    'a variable',
  );
}

export function evalForm({ words, older }: Dialect): Form {
  return map(
    {
      id: text('name', WRITTEN),
      type: text('what is checked', WRITTEN),
      trigger: words(['every_turn', 'on_session_complete', 'sample_turns', 'sample_sessions'], 'when', NEEDED),
      description: text(''),
      sample_percentage: number('', { min: 0, max: 100 }),
      enabled: flag(''),
      params: anyMap(''),
      metric: map(
        {
          name: text('', { needed: true, pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$' }),
          type: word(['gauge', 'counter', 'histogram', 'boolean'], '', { needed: true, exact: true }),
          range: map(
            {
              min: anyNumber,
              max: anyNumber,
            },
            '',
            { open: true },
          ),
        },
        '',
        { open: true },
      ),
      ...older({
        threshold: map({ operator: text(''), value: anyNumber }, ''),
        message: text(''),
        when: anyMap(''),
        groups: texts(''),
      }),
    },
    'a check of quality',
  );
}

export const PARAMETERS = map(
  {
    temperature: number('', { min: 0, max: 2 }),
    max_tokens: whole(''),
    top_p: number('', { min: 0, max: 1 }),
    top_k: integer('', { min: 1, max: MANY, blank: true }),
    frequency_penalty: number('', { min: -2, max: 2 }),
    presence_penalty: number('', { min: -2, max: 2 }),
  },
  'settings of the model',
);

/** Returns the form of the media a prompt accepts in addition to text. */
export function mediaForm({ words }: Dialect): Form {
  const sized = (formats: Form, keys: Keys): Form =>
    map({ max_size_mb: whole(''), allowed_formats: list(formats, ''), ...keys }, '');
  return map(
    {
      enabled: flag('', NEEDED),
      supported_types: list(text('', { pattern: '^[a-z0-9_]+$' }), ''),
      image: sized(words(['jpeg', 'jpg', 'png', 'webp', 'gif', 'bmp'], ''), {
        default_detail: words(['low', 'high', 'auto'], ''),
        require_caption: flag(''),
        max_images_per_msg: whole(''),
      }),
      audio: sized(words(['mp3', 'wav', 'opus', 'flac', 'm4a', 'aac', 'ogg'], ''), {
        max_duration_sec: whole(''),
        require_metadata: flag(''),
      }),
      video: sized(words(['mp4', 'webm', 'mov', 'avi', 'mkv'], ''), {
        max_duration_sec: whole(''),
        require_metadata: flag(''),
      }),
      document: sized(text(''), {
        max_pages: whole(''),
        require_metadata: flag(''),
        extraction_mode: word(['text', 'structured', 'raw'], '', { exact: true }),
      }),
      examples: list(any(''), ''),
    },
    'what it takes in addition to text; kept, not used',
    { open: true },
  );
}
