import type { SchemaName } from '../../yaml.js';
import { yamlSchema } from '../../yaml.js';
import { jsonText } from '../view/printable.js';
import { modeline, typescriptFiles } from './typescript.js';

/** A project to begin with. */
interface Template {
  /** The command that runs it. */
  readonly command: 'run' | 'exec';
  /** The files for a workflow of a name, by path inside the new folder; the first one is the workflow. */
  readonly files: (name: string) => Iterable<readonly [path: string, text: string]>;
  /** The schemas that its files name. */
  readonly schemas: readonly SchemaName[];
}

/** A project without the package has no other place that is there for everybody who has the folder. */
const pathOf = (schema: SchemaName): string => `schema/${schema}.json`;

const modelineFor = (schema: SchemaName): string => modeline(pathOf(schema));

function withHead(script: string, command: Template['command']): string {
  return `${modelineFor('script')}# Answers without a model: skein ${command} workflow.yaml --mock=script.yaml\n${script}`;
}

const PIPELINE = `agents:
  writer:
    description: Writes short texts
    instruction: You write short, plain texts. A review among the outputs says what to change.

  critic:
    description: Says whether a text can stay as it is
    instruction: You review the newest text. Approve it when a reader would have no question.
    structured_output:
      name: review
      schema:
        type: object
        properties:
          approved: { type: boolean }
          finding: { type: string }
        required: [approved, finding]
        additionalProperties: false

workflow:
  max_loop_iterations: 3
  steps:
    - id: draft
      type: agent
      name: writer

    - id: review
      type: agent
      name: critic

    - type: condition
      condition: "{{ $steps.review.output.approved }}"
      true:
        - id: final
          type: agent
          name: writer
          prompt: "Lay this text out with a title: {{ $steps.draft.output }}"
      false:
        - goto: draft
`;

const PIPELINE_SCRIPT = `rules:
  - step: draft#2
    answer: Looms weave cloth. They are driven by hand or by a motor.
  - step: draft
    answer: Looms weave.
  - step: review#2
    answer: { json: { approved: true, finding: none } }
  - step: review
    answer: { json: { approved: false, finding: What do they weave? } }
  - step: final
    answer: "Looms: they weave cloth, driven by hand or by a motor."
`;

function head(name: string): string {
  return `name: ${JSON.stringify(name)}
description: What it is for, in one sentence

inputs:
  topic:
    description: What to write about
    default: looms

agents:
  writer:
    file: agents/writer.agent.md

`;
}

const WRITER = `---
name: writer
description: Writes short texts
tools: []
---
You write short, plain texts. You say what you don't know.
`;

function dag({ steps, script }: { readonly steps: string; readonly script: string }): Template {
  return {
    command: 'run',
    files: (name) => [
      ['workflow.yaml', modelineFor('dag') + head(name) + steps],
      ['agents/writer.agent.md', WRITER],
      ['script.yaml', withHead(script, 'run')],
    ],
    schemas: ['dag', 'script'],
  };
}

const TEMPLATES = {
  chain: dag({
    steps: `steps:
  - id: facts
    agent: writer
    prompt: List five facts about {{inputs.topic}}.

  - id: text
    agent: writer
    depends_on: [facts]
    prompt: |
      Write one paragraph about {{inputs.topic}} from these facts:
      {{steps.facts.output}}

output:
  steps: [text]
`,
    script: `rules:
  - step: facts
    answer: 1. It is scripted. 2. No model was asked.
  - step: text
    answer: A paragraph that was written before the run.
`,
  }),
  'fan-out': dag({
    steps: `steps:
  - id: history
    agent: writer
    prompt: Two sentences about the history of {{inputs.topic}}.

  - id: today
    agent: writer
    prompt: Two sentences about {{inputs.topic}} today.

  - id: text
    agent: writer
    depends_on: [history, today]
    prompt: |
      Join these to one paragraph:
      {{steps.history.output}}
      {{steps.today.output}}

output:
  steps: [text]
`,
    script: `rules:
  - step: history
    answer: Once it was woven by hand.
  - step: today
    answer: Now a machine does it.
  - step: text
    answer: Once it was woven by hand; now a machine does it.
`,
  }),
  question: dag({
    steps: `steps:
  - id: ask
    agent: writer
    interactive: true
    prompt: Ask the person for whom the text about {{inputs.topic}} is, then repeat the answer.

  - id: text
    agent: writer
    depends_on: [ask]
    prompt: |
      Write one paragraph about {{inputs.topic}} for this reader: {{steps.ask.output}}

output:
  steps: [text]
`,
    script: `rules:
  - step: ask
    answers:
      - question:
          text: Who reads it?
          choices: [children, weavers]
      - Weavers.
  - step: text
    answer: You know how it works, so only this.
answers:
  - question: Who reads it?
    answer: weavers
`,
  }),
  pipeline: {
    command: 'exec',
    files: (name) => [
      ['workflow.yaml', `${modelineFor('pipeline')}# ${name}\n${PIPELINE}`],
      ['script.yaml', withHead(PIPELINE_SCRIPT, 'exec')],
    ],
    schemas: ['pipeline', 'script'],
  },
  typescript: { command: 'run', files: typescriptFiles, schemas: [] },
} satisfies Readonly<Record<string, Template>>;

/** The name of a template. */
export type TemplateName = keyof typeof TEMPLATES;

/** What `skein new` can begin with. */
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];

/**
 * What a template consists of: by path inside the new folder a workflow, which is the first file, agents, a script that lets it run without a model,
 * and the schemas by which an editor checks and completes them; and the command that runs it.
 *
 * @example
 * (await newProject('chain', 'weekly')).files.get('workflow.yaml');
 */
export async function newProject(
  template: TemplateName,
  name: string,
): Promise<{ readonly files: ReadonlyMap<string, string>; readonly command: string }> {
  const { command, files, schemas }: Template = TEMPLATES[template];
  const all = new Map(files(name));
  for (const schema of schemas) all.set(pathOf(schema), `${jsonText(await yamlSchema(schema))}\n`);
  return { files: all, command };
}
