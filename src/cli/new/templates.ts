/** What `skein new` can begin with. */
export const TEMPLATE_NAMES = ['chain', 'fan-out', 'question'] as const;

/** One of {@link TEMPLATE_NAMES}. */
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/**
 * The files of a template, by path inside the new folder: a workflow, an agent, and a script that lets it run without a model.
 *
 * @example
 * templateFiles('chain', 'weekly').get('workflow.yaml');
 */
export function templateFiles(template: TemplateName, name: string): ReadonlyMap<string, string> {
  const { steps, script } = TEMPLATES[template];
  return new Map([
    ['workflow.yaml', head(name) + steps],
    ['agents/writer.agent.md', WRITER],
    ['script.yaml', `# Answers without a model: skein run workflow.yaml --mock=script.yaml\n${script}`],
  ]);
}

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

const TEMPLATES: Readonly<Record<TemplateName, { readonly steps: string; readonly script: string }>> = {
  chain: {
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
  },
  'fan-out': {
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
  },
  question: {
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
  },
};
