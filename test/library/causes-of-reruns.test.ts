import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions, Runnable, SkeinEvent } from 'skein';

type State = Readonly<Record<string, unknown>>;
type Input = Parameters<typeof definePlan>[0];
type NodeInput = Input['nodes'][number];
type AgentParts = Omit<Extract<NodeInput, { kind: 'agent' }>, 'id'>;

const MOCK: RunOptions = { models: { mock: true, env: {} } };
const TOOL = { name: 'count', description: 'Counts.', input: { type: 'object' }, effect: 'read' } as const;

/** Three finished steps: the one that is edited, one that reads its result, and one that has nothing to do with it. */
function plan(node: NodeInput, more: Partial<Input> = {}): Runnable {
  return definePlan({
    name: 'p',
    inputs: [{ name: 'topic', default: 'looms' }],
    nodes: [
      node,
      { id: 'after', output: 'after', run: ({ it: value }: State) => JSON.stringify(value) },
      { id: 'aside', output: 'aside', run: () => 'aside' },
    ],
    edges: [['it', 'after']],
    ...more,
  });
}

function agent(more: Partial<AgentParts> = {}): Runnable {
  const { agent: spec, ...rest } = more;
  const parts = { instructions: 'You write.', models: ['own/a'], ...spec };
  return plan({ id: 'it', kind: 'agent', output: 'it', prompt: 'About {{topic}}', ...rest, agent: parts });
}

interface Told {
  readonly warnings: readonly string[];
  /** Where the first warning stands among the events: before any step begins to work. */
  readonly first: boolean;
  readonly sure: readonly string[];
  readonly perhaps: readonly string[];
  readonly ran: readonly string[];
}

/** What is told of a run that goes on, and which steps ended anew. */
async function told(workflow: Runnable, options: RunOptions): Promise<Told> {
  const events: SkeinEvent[] = [];
  await run(workflow, { ...options, listeners: [(event) => events.push(event)] }).result;
  const warnings = events.flatMap((event) => (event.type === 'run.warning' ? [event.message] : []));
  const names = (pattern: RegExp): readonly string[] =>
    warnings.flatMap((text) => pattern.exec(text)?.[1]?.split(', ') ?? []);
  const work = events.findIndex((event) => event.type === 'step.started');
  const place = events.findIndex((event) => event.type === 'run.warning');
  return {
    warnings,
    first: place >= 0 && place < work,
    sure: names(/runs again: ([^.]+)/),
    perhaps: names(/comes out differently: ([^.]+)/),
    ran: events.flatMap((event) => (event.type === 'step.ended' && event.replayed !== true ? [event.path] : [])),
  };
}

interface Cause {
  readonly before: Runnable;
  readonly after?: Runnable;
  /** Options of the run, and of what goes on with it. */
  readonly options?: RunOptions;
  readonly next?: RunOptions;
  /** What is named as changed. */
  readonly word: RegExp;
}

const spec = (fields: AgentParts['agent']): Runnable => agent({ agent: fields ?? {} });
function toolPlan(body: () => string): Runnable {
  const { plan: made, bindings } = plan({ id: 'it', kind: 'agent', output: 'it', prompt: 'x', agent: {} });
  if (made === undefined) throw new Error('no plan');
  const nodes = made.nodes.map((node) =>
    node.kind === 'agent' ? { ...node, agent: { ...node.agent, functions: [TOOL] } } : node,
  );
  return { plan: { ...made, nodes }, bindings: { ...bindings, 'tool:it/count': body } };
}

const task = (body: (state: State) => unknown, more: object = {}): Runnable =>
  plan({ id: 'it', output: 'it', run: body, ...more });
const ask = (more: object = {}): Runnable => plan({ id: 'it', kind: 'ask', output: 'it', question: 'Go on?', ...more });
const ANSWER: RunOptions = { answer: () => Promise.resolve('yes') };

const CAUSES: Readonly<Record<string, Cause>> = {
  'the prompt of an agent': { before: agent(), after: agent({ prompt: 'Of {{topic}}' }), word: /it changed prompt/ },
  'its version': { before: agent(), after: agent({ version: '2' }), word: /it changed version/ },
  'its name': { before: agent(), after: spec({ name: 'other' }), word: /it changed name/ },
  'its description': { before: agent(), after: spec({ description: 'Writes.' }), word: /it changed description/ },
  'its instructions': { before: agent(), after: spec({ instructions: 'Sing.' }), word: /it changed system prompt/ },
  'its models': { before: agent(), after: spec({ models: ['own/b'] }), word: /it changed model/ },
  'its tools': { before: agent(), after: spec({ tools: ['think'] }), word: /it changed tools/ },
  'which calls are approved': { before: agent(), after: spec({ approve: ['think'] }), word: /it changed approvals/ },
  'its permissions': { before: agent(), after: spec({ permissions: { deny: ['*'] } }), word: /it changed permissions/ },
  'its skills': {
    before: agent(),
    after: spec({ skills: [{ name: 's', text: 'Rhyme.' }] }),
    word: /it changed skills/,
  },
  'its folders': { before: agent(), after: spec({ extraDirs: ['/tmp'] }), word: /it changed folders/ },
  'its turns': { before: agent(), after: spec({ maxTurns: 3 }), word: /it changed limits/ },
  'its calls': { before: agent(), after: spec({ maxToolCalls: 3 }), word: /it changed limits/ },
  'its schema': {
    before: agent(),
    after: spec({ output: { schema: { type: 'object' }, onInvalid: 'warn' } }),
    word: /it changed schema/,
  },
  'whether it may ask': { before: agent(), after: spec({ interactive: true }), word: /it changed interactive/ },
  'its settings': { before: agent(), after: spec({ settings: { seed: 1 } }), word: /it changed settings/ },
  'whether it may be silent': { before: agent(), after: spec({ allowEmpty: true }), word: /it changed empty answers/ },
  'what it is told of its surroundings': {
    before: agent(),
    after: spec({ about: ['date'] }),
    word: /it changed about/,
  },
  'its provider': {
    before: agent(),
    after: spec({ provider: { type: 'openai', baseUrl: 'http://127.0.0.1:9' } }),
    word: /it changed provider/,
  },
  'what it does with the memory': {
    before: agent(),
    after: spec({ memory: { inject: true } }),
    word: /it changed memory/,
  },
  'a function that is its tool': { before: toolPlan(() => 'one'), after: toolPlan(() => 'two'), word: /code of count/ },
  'the first text of the memory': {
    before: spec({ memory: { inject: true } }),
    options: { memory: 'Be brief.' },
    next: { memory: 'Be long.' },
    word: /first text of the shared memory changed/,
  },
  'the code of a function': { before: task(() => 1), after: task(() => 2), word: /it changed code/ },
  'its version, of a function': { before: task(() => 1), after: task(() => 1, { version: '2' }), word: /version/ },
  'a question': { before: ask(), after: ask({ question: 'Now?' }), options: ANSWER, word: /it changed question/ },
  'its choices': { before: ask(), after: ask({ choices: ['yes'] }), options: ANSWER, word: /it changed choices/ },
  'the schema of its answer': {
    before: ask(),
    after: ask({ schema: { type: 'string' } }),
    options: ANSWER,
    word: /it changed schema/,
  },
  'when it is too late': {
    before: ask(),
    after: ask({ expiresMs: 60_000 }),
    options: ANSWER,
    word: /it changed expiry/,
  },
  'how long is waited': {
    before: plan({ id: 'it', kind: 'wait', ms: 1 }),
    after: plan({ id: 'it', kind: 'wait', ms: 2 }),
    word: /it changed time/,
  },
  'the kind of a step': { before: task(() => 'yes'), after: ask(), next: ANSWER, word: /it changed .*kind/ },
};

/** Of the plan and the flags of a fork. */
const FORKS: Readonly<Record<string, Cause>> = {
  'another model': {
    before: agent(),
    next: { models: { override: 'mock/echo', env: {} } },
    word: /answered by mock\/echo/,
  },
  'another value of an input': {
    before: agent(),
    next: { inputs: { topic: 'tides' } },
    word: /input topic has another/,
  },
};

describe('[XR3] a finished step whose result does not count any more', () => {
  const going = (how: 'resume' | 'fork', runId: string): RunOptions =>
    how === 'resume' ? { resume: runId } : { fork: { run: runId } };
  const cases = [
    ...Object.entries(CAUSES).flatMap(([name, cause]) => [
      ['resume', name, cause] as const,
      ['fork', name, cause] as const,
    ]),
    ...Object.entries(FORKS).map(([name, cause]) => ['fork', name, cause] as const),
  ];

  it.each(cases)('(%s: %s) is announced before anything runs, and what is announced runs', async (how, _, cause) => {
    const store = memoryStore();
    const options = { ...MOCK, ...cause.options };
    const { runId, outcome } = await run(cause.before, { store, ...options }).result;
    expect(outcome).toBe('succeeded');
    const next = { ...options, ...cause.next, ...going(how, runId) };
    const { warnings, first, sure, perhaps, ran } = await told(cause.after ?? cause.before, { store, ...next });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(cause.word);
    expect(first).toBe(true);
    const announced = [...sure, ...perhaps];
    expect(announced.slice(0, 2)).toEqual(['it', 'after']);
    // What stays the same stops the spread.
    for (const path of ran) expect(announced).toContain(path);
    for (const path of [...sure, 'it']) expect(ran).toContain(path);
  });

  it('is announced when nothing of the list has changed, too: what a schema makes of the state can not be seen', async () => {
    const schema = (word: string): object => ({
      '~standard': { version: 1, vendor: 'test', validate: () => ({ value: word }) },
    });
    const made = (word: string): Runnable => {
      const { plan: one, bindings } = task(({ topic }) => topic);
      return { plan: one, bindings: { ...bindings, 'schema:topic': schema(word) } };
    };
    const store = memoryStore();
    const { runId } = await run(made('one'), { store }).result;
    const { warnings, ran } = await told(made('two'), { store, resume: runId });
    expect(warnings).toEqual(['it', 'after'].map((path) => expect.stringContaining(`${path} runs again`) as string));
    expect(ran).toEqual(['it', 'after']);
  });

  it.each<readonly [string, Runnable, RunOptions]>([
    ['the same', agent(), MOCK],
    ['another model', agent(), { models: { override: 'mock/echo', env: {} } }],
    ['no models', agent(), { models: { env: {} } }],
    ['another policy', agent({ timeoutMs: 9_000, label: 'It' }), MOCK],
    ['the memory as it was recorded', agent(), { ...MOCK, inputs: {} }],
  ])('(resume: %s) there is none, and nothing runs', async (_, after, options) => {
    const store = memoryStore();
    const { runId } = await run(agent(), { store, ...MOCK, memory: 'Be brief.' }).result;
    const { sure, perhaps, ran } = await told(after, { store, ...options, resume: runId });
    expect([...sure, ...perhaps, ...ran]).toEqual([]);
  });
});
