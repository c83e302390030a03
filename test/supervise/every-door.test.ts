import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, readRun } from 'skein';
import type { RunOptions, RunResult, Runnable, Store, Supervisor } from 'skein';
import { agent, agentNode, graph, loopNode, workflowNode } from 'skein/graph';
import { openPack } from 'skein/machine';
import { loadWorkflow } from 'skein/yaml';
import { makeProject } from '../notations/project.js';
import { DRIFT, FakeModels, HAPPY, runWith } from './support.js';

/** The work is only good when it was corrected, and says so itself. */
const models = (): FakeModels =>
  new FakeModels({
    work: ({ path, prompt }) =>
      path.startsWith('again') ? path : prompt.includes('<correction source="supervisor">\nbetter') ? 'good' : 'bad',
    post: ({ prompt }) => (prompt.includes('bad') ? DRIFT : HAPPY.post),
    supervise: ({ prompt }) =>
      prompt.includes('bad') ? '{"verdict":"reorient","correction":"better"}' : '{"verdict":"continue"}',
  });

const CALLS = ['commit', 'work', 'post', 'supervise', 'work', 'post', 'supervise'];

async function fileOf(files: Readonly<Record<string, string>>, file = 'flow.yaml'): Promise<Runnable> {
  const cwd = await makeProject(files);
  const workflow = await loadWorkflow(file, { cwd, pack: {} });
  expect(workflow.problems).toEqual([]);
  return workflow;
}

const DAG = `name: t
supervise: true
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps: [{ id: w, agent: w, prompt: Write. }]
`;
const PIPELINE =
  'supervise: true\nagents: { w: { instruction: You write. } }\nworkflow: [{ id: w, type: agent, name: w }]\n';

const pack = (skein: object): string =>
  JSON.stringify({
    id: 'support',
    name: 'Support',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { w: { id: 'w', name: 'W', version: '1.0.0', system_template: 'You write.' } },
    workflow: {
      version: 2,
      entry: 'w',
      engine: { skein },
      states: { w: { prompt_task: 'w', on_event: { Done: 'end' } }, end: { prompt_task: 'w', terminal: true } },
    },
  });

const writer = agent({ name: 'w', instructions: 'You write.' });
const flow = (human = false) =>
  graph<{ task: string }>({ supervise: { human } }).node('w', agentNode(writer)).setEntry('w').compile();

interface Notation {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** The address of its supervised step. */
  readonly step: string;
  readonly open: (human?: boolean) => Runnable | Promise<Runnable>;
}

const judgedBy = (text: string, human: boolean): string =>
  human ? text.replace('supervise: true', 'supervise: { human: true }') : text;

const NOTATIONS: readonly Notation[] = [
  { name: 'dag', inputs: {}, step: 'w', open: (human = false) => fileOf({ 'flow.yaml': judgedBy(DAG, human) }) },
  {
    name: 'pipeline',
    inputs: { prompt: 'Write.' },
    step: 'w',
    open: (human = false) => fileOf({ 'flow.yaml': judgedBy(PIPELINE, human) }),
  },
  {
    name: 'machine',
    inputs: { message: 'Write.' },
    step: 'state.w',
    open: (human = false) => fileOf({ 'p.pack.json': pack({ supervise: { human } }) }, 'p.pack.json'),
  },
  { name: 'graph', inputs: { task: 'Write.' }, step: 'w', open: (human = false) => flow(human) },
];

/** Phases in order. */
const phases = (fake: FakeModels): readonly string[] => fake.asked.map(({ phase }) => phase);
const text = ({ state }: Pick<RunResult, 'state'>): string => JSON.stringify(state);

describe.each(NOTATIONS)('a supervised step of the notation $name', ({ open, inputs, step }) => {
  it.each<[string, () => RunOptions]>([
    ['without a store', () => ({})],
    ['with a store', () => ({ store: memoryStore() })],
    ['in a thread', () => ({ store: memoryStore(), thread: 'desk' })],
  ])('[S7] [decision 7] %s: only what is accepted is in the state, and each phase happens once', async (_, options) => {
    const fake = models();
    const result = await runWith(fake, await open(), { inputs, ...options() });
    expect([result.outcome, phases(fake)]).toEqual(['succeeded', CALLS]);
    expect(text(result)).toContain('good');
    expect(text(result)).not.toContain('bad');
  });

  it('[S9] [decision 7] waits for a person, is revised, resumed and approved, and is forked', async () => {
    const fake = models();
    const store = memoryStore();
    const workflow = await open(true);
    const first = await runWith(fake, workflow, { inputs, store, runId: 'r' });
    expect(first.outcome).toBe('paused');
    expect(text(first)).not.toContain('bad');
    answerRun(store, 'r', { key: step, value: 'revise: better' });
    expect((await runWith(fake, workflow, { store, resume: 'r' })).outcome).toBe('paused');
    answerRun(store, 'r', { key: step, value: 'approve' });
    const last = await runWith(fake, workflow, { store, resume: 'r' });
    expect([last.outcome, phases(fake)]).toEqual(['succeeded', ['commit', 'work', 'post', 'work', 'post']]);
    expect(text(last)).toContain('good');
    expect(text(last)).not.toContain('bad');
    // A fork takes over what is finished, and asks nobody again.
    const forked = await runWith(fake, workflow, { store, fork: { run: 'r' } });
    expect([forked.outcome, fake.asked.length]).toEqual(['succeeded', 5]);
    expect(text(forked)).toContain('good');
    expect(text(forked)).not.toContain('bad');
  });

  it('[S10] [addition 2] is rejected: the run fails, and what was rejected is not in its state', async () => {
    const fake = models();
    const store = memoryStore();
    const workflow = await open(true);
    await runWith(fake, workflow, { inputs, store, runId: 'r' });
    answerRun(store, 'r', { key: step, value: 'reject' });
    const last = await runWith(fake, workflow, { store, resume: 'r' });
    expect([last.outcome, last.error?.code]).toEqual(['failed', 'SKEIN_REJECTED']);
    expect(last.error?.details).toMatchObject({ output: 'bad' });
    expect(text(last)).not.toContain('bad');
  });
});

/** Steps that somebody judged, with how often they were corrected. */
function judged(store: Store): Readonly<Record<string, number>> {
  const { steps } = readRun(store, 'r');
  return Object.fromEntries(
    steps.flatMap(({ path, supervision: s }) => (s === undefined ? [] : [[path, s.corrections]])),
  );
}

const BLOCK = (block: string): string =>
  `supervise: true\nagents: { w: { instruction: You write. } }\nworkflow:\n${block}`;

describe('supervised steps inside of others', () => {
  it.each<
    [string, () => Runnable | Promise<Runnable>, Readonly<Record<string, string>>, Readonly<Record<string, number>>]
  >([
    [
      'items of a map',
      () =>
        fileOf({
          'flow.yaml': BLOCK('  - { id: m, type: map, over: $prompt, steps: [{ id: w, type: agent, name: w }] }\n'),
        }),
      { prompt: '["a", "b"]' },
      { 'm[0]/w': 1, 'm[1]/w': 1 },
    ],
    [
      'a called file',
      () =>
        fileOf({
          'flow.yaml': BLOCK('  - { id: c, type: call, file: other.yaml }\n'),
          'other.yaml': DAG.replace('supervise: true\n', ''),
        }),
      {},
      { 'c/w': 1 },
    ],
    [
      'a jump back',
      () =>
        fileOf({
          'flow.yaml': BLOCK(`  - { id: w, type: agent, name: w }
  - { id: again, type: agent, name: w, supervise: false, prompt: "{{ $steps.w.output }}" }
  - { type: condition, condition: "{{ $steps.again.output == 'again' }}", true: [{ type: goto, goto: w }] }
`)
            .replace('workflow:\n', 'workflow:\n  max_loop_iterations: 1\n  steps:\n')
            .replaceAll('\n  - ', '\n    - '),
        }),
      {},
      { w: 1, 'w#2': 1 },
    ],
    [
      'rounds of a loop',
      () =>
        graph<{ task: string }>({ supervise: true })
          .node('l', loopNode(flow(), { maxRounds: 2, until: (_: unknown, round?: number) => round === 2, carry: [] }))
          .compile(),
      { task: 'Write.' },
      { 'l#1/w': 1, 'l#2/w': 1 },
    ],
    [
      'a file that is a node of a graph',
      async () =>
        graph<{ task: string }>({ supervise: true })
          .node('f', workflowNode((await fileOf({ 'flow.yaml': DAG.replace('supervise: true\n', '') })) as never, 'f'))
          .compile(),
      {},
      { 'f/w': 1 },
    ],
  ])(
    '[addition 1] [addition 3] %s: each is corrected by itself, with its own address',
    async (_, made, inputs, expected) => {
      const fake = models();
      const store = memoryStore();
      const result = await runWith(fake, await made(), { inputs, store, runId: 'r' });
      expect(result.error).toBeUndefined();
      expect(judged(store)).toEqual(expected);
      for (const phase of ['commit', 'post', 'supervise'] as const)
        expect(fake.of(phase)).toHaveLength(Object.keys(expected).length * (phase === 'commit' ? 1 : 2));
      expect(text(result)).toContain('good');
    },
  );

  it('[addition 3] a whole map, with a correction that reaches the agents of all items', async () => {
    const fake = models();
    const block =
      '  - { id: m, type: map, over: $prompt, supervise: { instruction: Do all. }, steps: [{ id: w, type: agent, name: w }] }\n';
    const workflow = await fileOf({ 'flow.yaml': BLOCK(block).replace('supervise: true\n', '') });
    const result = await runWith(fake, workflow, { inputs: { prompt: '["a", "b"]' } });
    expect(result.state['steps.m.output']).toEqual(['good', 'good']);
    expect(fake.of('commit')).toHaveLength(1);
    expect(fake.of('work')).toHaveLength(4);
  });
});

describe('a rejected step, in a file that lets failures pass', () => {
  it.each([
    ['DAG, on_error: continue', DAG.replace('prompt: Write. }', 'prompt: Write., on_error: continue }')],
    ['DAG, on_error: skip', DAG.replace('prompt: Write. }', 'prompt: Write., on_error: skip }')],
    ['DAG, on_error: retry', DAG.replace('prompt: Write. }', 'prompt: Write., on_error: retry, retry_count: 2 }')],
    ['pipeline, on_error: continue', PIPELINE.replace('name: w }]', 'name: w, on_error: continue }]')],
    [
      'pipeline, on_item_error: continue',
      BLOCK(
        '  - { id: m, type: map, over: $prompt, on_item_error: continue, on_error: continue, steps: [{ id: w, type: agent, name: w }] }\n',
      ),
    ],
  ])('[addition 2] %s: the run fails all the same', async (_, written) => {
    const fake = models();
    const workflow = await fileOf({ 'flow.yaml': judgedBy(written, true) });
    const inputs = written.startsWith('name:') ? {} : { prompt: '["a"]' };
    const options: RunOptions = { inputs, answer: () => Promise.resolve('reject') };
    const result = await runWith(fake, workflow, options);
    expect([result.outcome, result.error?.code]).toEqual(['failed', 'SKEIN_REJECTED']);
    expect(fake.of('work')).toHaveLength(1);
    expect(text(result)).not.toContain('bad');
  });
});

describe('a supervised pack in a conversation', () => {
  it('[addition 3] says only what was accepted, turn after turn', async () => {
    const fake = models();
    const seen: string[] = [];
    const own: Supervisor = {
      reconcile: (_, { metCommitment }) => ({ triggers: [], escalate: !metCommitment }),
      supervise: ({ output }) => {
        seen.push(JSON.stringify(output));
        return output === 'bad' ? { verdict: 'reorient', correction: 'better' } : { verdict: 'continue' };
      },
    };
    const given = JSON.parse(pack({ supervise: true })) as object;
    const conversation = await openPack(given, { models: fake.options, supervisor: own });
    for (const turn of ['Write.', 'And again.']) {
      const { text: said } = await conversation.send(turn);
      expect(said).toBe('good');
    }
    // What was not accepted, and what was said against it, are no part of the conversation.
    expect(seen).toEqual(['"bad"', '"good"', '"bad"', '"good"']);
    expect(fake.of('work')[2]?.prompt).toBe('Write.\nAnd again.');
    expect(conversation.messages.map((message) => 'text' in message && message.text)).toEqual([
      'Write.',
      'good',
      'And again.',
      'good',
    ]);
  });

  it('[addition 3] in a conversation that steps of a file share the correction is not handed on either', async () => {
    const fake = models();
    const steps = `[{ id: a, agent: w, prompt: One., conversation: desk }, { id: b, agent: w, prompt: Two., conversation: desk, depends_on: [a], supervise: false }]`;
    const workflow = await fileOf({ 'flow.yaml': DAG.replace(/\[\{ id: w.*\]/, steps) });
    const { state } = await runWith(fake, workflow);
    expect(fake.of('work').map(({ prompt }) => prompt)).toEqual([
      'One.',
      expect.stringMatching(/^One\.\n\n<correction/) as unknown,
      'One.\nTwo.',
    ]);
    expect(state['conversations.desk']).toMatchObject([
      { role: 'user', text: 'One.' },
      { role: 'assistant', text: 'good' },
      { role: 'user', text: 'Two.' },
      { role: 'assistant', text: 'bad' },
    ]);
  });
});
