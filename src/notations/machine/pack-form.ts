import {
  either,
  list,
  map,
  named,
  names,
  number,
  text,
  texts,
  word,
  type Form,
  type MapForm,
} from '../../text/forms.js';
import { DECLARATION_KEYS } from '../declarations-key.js';
import { SECURITY_KEY } from '../security-key.js';
import { SUPERVISE } from '../supervise-key.js';
import { NEEDED, VERSION, WRITTEN, dialectOf, type Dialect, type PackSchema } from './dialect.js';
import { PARAMETERS, evalForm, mediaForm, promptForm } from './prompt-form.js';
import { COMPOSITION, PREDICATE, SKILL, STEP, TOOL, workflowForm } from './workflow-form.js';

/** The form of a pack, and the forms used in several places. */
export interface PackForm {
  readonly form: MapForm;
  readonly named: Readonly<Record<string, Form>>;
}

const FEATURES = ['basic_substitution', 'fragments', 'conditionals', 'loops', 'filters'] as const;
const cost = number('', { min: 0, max: Number.MAX_VALUE });

const TEMPLATE_ENGINE = map(
  {
    version: text('version of the engine', NEEDED),
    syntax: text('how placeholders are written', NEEDED),
    features: list(word(FEATURES, '', { exact: true }), 'what templates use'),
  },
  'how templates are written',
  NEEDED,
);

const METADATA = map(
  {
    domain: text('field of use'),
    language: text('two letters', { pattern: '^[a-z]{2}$' }),
    tags: texts('words to find it by'),
    skein: map(
      { supervise: SUPERVISE, security: SECURITY_KEY, ...DECLARATION_KEYS },
      'what only Skein does, in a pack without a workflow',
    ),
    cost_estimate: map({ min_cost_usd: cost, max_cost_usd: cost, avg_cost_usd: cost }, 'cost', { open: true }),
  },
  'notes about the pack',
  { open: true },
);

const COMPILATION = map(
  {
    compiled_with: text('program', NEEDED),
    created_at: text('time', NEEDED),
    schema: text('version of the schema', NEEDED),
    source: text('file'),
  },
  'how the pack was made',
  { open: true },
);

/** Returns the form of packs in one version, or of whatever either version accepts. */
export function packForm(schema?: PackSchema): PackForm {
  const dialect = dialectOf(schema);
  const keys = {
    $schema: text('address of the schema'),
    id: text('short name', { needed: true, pattern: '^[a-z][a-z0-9-]*$', longest: 100 }),
    name: text('name', { ...WRITTEN, longest: 200 }),
    version: text('version, as in semantic versioning', { needed: true, pattern: VERSION }),
    description: text('what the pack is for'),
    template_engine: TEMPLATE_ENGINE,
    prompts: names(promptForm(dialect), 'prompts by name', { needed: true, min: 1 }),
    fragments: names(text(''), 'parts of templates by name'),
    tools: names(TOOL, 'tools by name'),
    metadata: METADATA,
    compilation: COMPILATION,
    evals: list(named('eval'), 'checks of quality; kept, not run'),
    workflow: workflowForm(dialect),
    agents: agentsForm(dialect),
    skills: list(either([text(''), SKILL], ''), 'skills: paths, or texts'),
    ...dialect.newer({ compositions: names(COMPOSITION, 'compositions by name') }),
  };
  return {
    form: map(keys, 'a pack'),
    named: {
      eval: evalForm(dialect),
      parameters: PARAMETERS,
      media: mediaForm(dialect),
      predicate: PREDICATE,
      step: STEP,
    },
  };
}

function agentsForm({ newer }: Dialect): Form {
  const member = map(
    {
      description: text('what it does'),
      tags: texts('words to find it by'),
      input_modes: texts('MIME types'),
      output_modes: texts('MIME types'),
      ...newer({ state: text('state of the workflow in which it starts') }),
    },
    'an agent',
  );
  return map(
    {
      entry: text('prompt of the first agent', NEEDED),
      members: names(member, 'agents by prompt', { needed: true, min: 1 }),
    },
    'prompts that are agents',
  );
}
