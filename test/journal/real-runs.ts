import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelPart, ModelRequest } from '../../src/agent/model.js';
import type { Store } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import type { RunResult } from '../../src/engine/run.js';
import type { RunOptions, Runnable } from '../../src/runtime.js';
import { run } from '../../src/runtime.js';
import { loadDagText } from '../../src/yaml.js';

/** A run whose journal is kept. No code nodes: their digests are those of text that each compiler writes in its own way. */
export interface RealRun {
  readonly name: string;
  readonly runId: string;
  readonly workflow: () => Promise<Runnable>;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A model that looks with the tool of its agent, if it has one, and then says what it was asked, with the calls that were made. */
export function countedModel(asked: string[]) {
  return {
    own: () => ({
      id: 'own/model',
      async *stream({ messages, tools, caller }: ModelRequest): AsyncIterable<ModelPart> {
        await Promise.resolve();
        asked.push(`${caller.path} ${caller.turn}`);
        const looked = messages.some((message) => message.role === 'tool');
        const name = tools[0]?.name;
        if (looked || name === undefined) yield { type: 'text', text: `said by ${caller.path}` };
        else yield { type: 'tool-call', call: { id: 'c1', name, input: INPUTS[name] ?? '{}' } };
        const reason = looked || name === undefined ? 'stop' : 'tool-calls';
        yield { type: 'finish', reason, usage: { inputTokens: 3, outputTokens: 2 } };
      },
    }),
  };
}

const INPUTS: Readonly<Record<string, string>> = {
  read_file: '{"path":"notes.txt"}',
  ask_user: '{"question":"Which loom?","choices":["hand","power"]}',
};

const agents = `agents:
  reader: { inline: { prompt: You read., tools: [read_file], model: own/model } }
  writer: { inline: { prompt: You write., tools: [], model: own/model } }
  host: { inline: { prompt: You ask., tools: [], model: own/model } }
`;

const dag = `name: dag
inputs: { topic: { default: looms } }
${agents}steps:
  - { id: notes, agent: reader, prompt: "Notes about {{inputs.topic}}" }
  - { id: facts, agent: writer, prompt: "Facts about {{inputs.topic}}" }
  - { id: text, agent: writer, depends_on: [notes, facts], prompt: "From {{steps.notes.output}} and {{steps.facts.output}}" }
  - { id: never, agent: writer, depends_on: [text], condition: { step: text, contains: nobody says this }, prompt: x }
`;

const asking = `name: asking
${agents}steps:
  - { id: notes, agent: reader, prompt: Notes }
  - { id: gate, agent: host, interactive: true, depends_on: [notes], prompt: "{{steps.notes.output}}" }
  - { id: text, agent: writer, depends_on: [gate], prompt: "About {{steps.gate.output}}" }
`;

const yaml = async (text: string): Promise<Runnable> => {
  const workflow = await loadDagText(text, { cwd: import.meta.dirname });
  if (workflow.plan === undefined) throw new Error(JSON.stringify(workflow.problems));
  return workflow;
};

const agent = { instructions: ['You look.'], models: ['own/model'], tools: [] };

function scan(): Runnable {
  const item = definePlan({
    name: 'item',
    inputs: ['file'],
    nodes: [{ id: 'look', kind: 'agent', agent, prompt: 'Look at {{ file.name }}', output: 'found' }],
    edges: [],
  });
  return definePlan({
    name: 'scan',
    inputs: ['files'],
    nodes: [
      {
        id: 'scan',
        kind: 'map',
        over: { channel: 'files' },
        item: 'file',
        key: ['name'],
        plan: item,
        result: 'found',
        maxItems: 9,
        output: 'results',
      },
      { id: 'pause', kind: 'wait', ms: 1 },
      { id: 'sum', kind: 'agent', agent, prompt: 'Sum up {{ results }}', output: 'sum' },
    ],
    edges: [['scan', 'pause', 'sum']],
  });
}

export const REAL_RUNS: readonly RealRun[] = [
  { name: 'run-of-a-dag.json', runId: 'golden-dag', workflow: () => yaml(dag), inputs: { topic: 'looms' } },
  {
    name: 'run-of-a-map.json',
    runId: 'golden-map',
    workflow: async () => scan(),
    inputs: { files: [{ name: 'a' }, { name: 'b~2' }] },
  },
  { name: 'run-that-waits.json', runId: 'golden-ask', workflow: () => yaml(asking), inputs: {} },
];

/** A process that runs one of them, in a folder of its own. */
export async function recordReal(
  workflow: Runnable,
  options: Partial<RunOptions> & { readonly store: Store; readonly cwd: string; readonly asked: string[] },
): Promise<RunResult> {
  const { asked, ...more } = options;
  return await run(workflow, { models: { env: {}, providers: countedModel(asked) }, ...more }).result;
}

/** What the tool of the runs reads. */
export async function writeNotes(cwd: string): Promise<void> {
  await writeFile(join(cwd, 'notes.txt'), 'Looms weave.\n');
}
