import { describe, expect, it } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions, Runnable } from 'skein';
import { loadWorkflow } from 'skein/yaml';
import { makeProject } from '../notations/project.js';
import { billing, PRICES } from './billed.js';
import { chain } from './plans.js';

async function fileOf(files: Readonly<Record<string, string>>, file = 'flow.yaml'): Promise<Runnable> {
  const workflow = await loadWorkflow(file, { cwd: await makeProject(files), pack: {} });
  expect(workflow.problems).toEqual([]);
  return workflow;
}

const DAG = `name: t
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: one, agent: w, prompt: Write. }
  - { id: two, agent: w, prompt: 'Shorten {{steps.one.output}}', depends_on: [one] }
  - { id: three, agent: w, prompt: 'Check {{steps.two.output}}', depends_on: [two] }
`;
const PIPELINE = `agents: { w: { instruction: You write. } }
workflow:
  - { id: one, type: agent, name: w }
  - { id: two, type: agent, name: w }
  - { id: three, type: agent, name: w }
`;
const AGENTFILE = `NAME t

AGENT w "You write."

GOAL one "Write." USING w
GOAL two "Shorten it." USING w
GOAL three "Check it." USING w

RUN main USING one, two, three
`;
/** Its only state is supervised: what is promised, the work, how it went. */
const PACK = JSON.stringify({
  id: 'support',
  name: 'Support',
  version: '1.0.0',
  template_engine: { version: 'v1', syntax: '{{variable}}' },
  prompts: { w: { id: 'w', name: 'W', version: '1.0.0', system_template: 'You write.' } },
  workflow: {
    version: 2,
    entry: 'w',
    engine: { skein: { supervise: true } },
    states: { w: { prompt_task: 'w', on_event: { Done: 'end' } }, end: { prompt_task: 'w', terminal: true } },
  },
});
const HAPPY = '{"met_commitment": true, "confidence": "high"}';

interface Notation {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly open: () => Runnable | Promise<Runnable>;
}

const NOTATIONS: readonly Notation[] = [
  { name: 'dag', inputs: {}, open: () => fileOf({ 'flow.yaml': DAG }) },
  { name: 'pipeline', inputs: { prompt: 'Write.' }, open: () => fileOf({ 'flow.yaml': PIPELINE }) },
  { name: 'machine', inputs: { message: 'Write.' }, open: () => fileOf({ 'p.pack.json': PACK }, 'p.pack.json') },
  { name: 'agentfile', inputs: {}, open: () => fileOf({ Agentfile: AGENTFILE }, 'Agentfile') },
  { name: 'graph', inputs: { task: 'Write.' }, open: () => chain() },
];

/** Each of them makes three calls. */
describe.each(NOTATIONS)('a run of the notation $name with a budget', ({ open, inputs }) => {
  const play = async (workflow: Runnable, options: RunOptions) => {
    const own = billing({ say: () => HAPPY });
    const models = { ...own.models, override: 'own/m' };
    const result = await run(workflow, { models, prices: PRICES, ...options }).result;
    return [result.outcome, own.asked.length];
  };

  it.each<[string, () => RunOptions]>([
    ['without a store', () => ({})],
    ['with a store', () => ({ store: memoryStore() })],
    ['in a thread', () => ({ store: memoryStore(), thread: 'desk' })],
  ])('%s: makes the calls that it pays for', async (_, options) => {
    expect(await play(await open(), { inputs, budget: '2-calls', ...options() })).toEqual(['out_of_budget', 2]);
    expect(await play(await open(), { inputs, budget: '3-calls', ...options() })).toEqual(['succeeded', 3]);
  });

  it.each([
    ['retry', { retry: { retries: 2, backoff: 'fixed', delayMs: 1, on: 'any' } }],
    ['onError: continue', { onError: 'continue' }],
    ['onError: ignore', { onError: 'ignore' }],
    ['a timeout', { timeoutMs: 60_000 }],
  ])('is out of budget whatever the policies of its steps say, also when it is resumed: %s', async (_, policy) => {
    const { plan, bindings } = await open();
    if (plan === undefined) throw new Error('no plan');
    const nodes = plan.nodes.map((node) => ({ ...node, ...policy })) as typeof plan.nodes;
    const workflow = { plan: { ...plan, nodes }, ...(bindings && { bindings }) };
    const store = memoryStore();
    expect(await play(workflow, { inputs, budget: '1-calls' })).toEqual(['out_of_budget', 1]);
    expect(await play(workflow, { inputs, budget: '1-calls', store, runId: 'r' })).toEqual(['out_of_budget', 1]);
    expect(await play(workflow, { store, resume: 'r' })).toEqual(['out_of_budget', 0]);
  });

  it('is resumed with more, and forked from nothing', async () => {
    const store = memoryStore();
    const workflow = await open();
    expect(await play(workflow, { inputs, store, budget: '1-calls', runId: 'r' })).toEqual(['out_of_budget', 1]);
    expect(await play(workflow, { store, resume: 'r', budget: '+1-calls' })).toEqual(['out_of_budget', 1]);
    expect(await play(workflow, { store, fork: { run: 'r' }, budget: '1-calls' })).toEqual(['succeeded', 1]);
    expect(await play(workflow, { store, resume: 'r', budget: '+1-calls' })).toEqual(['succeeded', 1]);
  });
});
