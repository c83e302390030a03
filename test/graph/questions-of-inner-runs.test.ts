import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, SkeinError } from '../../src/index.js';
import { agent, agentAsTool, agentNode, agentTeam, graph, tool, toolNode } from '../../src/graph.js';
import { isGuardQuestion, askKey, moreOf, askerOf } from '../../src/base/address.js';
import { aroundName } from '../../src/base/names-inside.js';
import { ownModels, resultsIn } from './support-agents.js';

const TASK = { type: 'object', properties: { task: { type: 'string' } } } as const;

const asking = graph<{ task: string }>()
  .node(
    'which',
    async ({ task }, step) => `${task}: ${await step.ask({ text: `Which ${task}?`, choices: ['yes', 'allow'] })}`,
  )
  .setEntry('which');

/** A model that makes one call of its first tool, and then says what that gave. */
const { models } = ownModels({
  m: (request) => {
    const results = resultsIn(request);
    const [first] = request.tools;
    return first === undefined || results.length > 0 ? results.join() : { calls: [[first.name, { task: 'it' }]] };
  },
});

const lead = agent({ name: 'lead', model: 'own/m' });
const pay = tool({ name: 'pay', inputSchema: TASK, approve: true, trust: 'trusted', execute: () => 'paid' });
const payer = agent({ name: 'payer', model: 'own/m', tools: [pay] });
const look = tool({
  name: 'look',
  inputSchema: TASK,
  execute: async ({ task }: { task: string }, io) => (await asking.runOrThrow({ task }, io.runOptions)).which,
});

const NODES = {
  'a team whose worker is a graph': agentNode(
    agentTeam({ supervisor: lead, workers: [{ name: 'w', agent: asking.asAgent(), description: 'Works.' }] }),
  ),
  'a team whose worker needs an approval': agentNode(
    agentTeam({ supervisor: lead, workers: [{ name: 'w', agent: payer, description: 'Works.' }] }),
  ),
  'an agent as a tool': agentNode(
    agent({
      name: 'boss',
      model: 'own/m',
      tools: [agentAsTool(asking.asAgent(), { name: 'w', description: 'Works.' })],
    }),
  ),
  'a tool that is a node': toolNode(look),
};

describe('a run inside a step that asks', () => {
  it.each(Object.entries(NODES))('%s: the run around it asks, and goes on with the answer', async (_name, node) => {
    const flow = graph<{ task: string }>().node('t', node).setEntry('t');
    const store = memoryStore();
    const first = await flow.run({ task: 'it' }, { store, models });
    expect([first.outcome, first.questions.length]).toEqual(['paused', 1]);
    answerRun(store, first.runId, { key: String(first.questions[0]?.key), value: 'allow' });
    const { outcome, answer } = await flow.run({}, { store, models, resume: first.runId });
    expect([outcome, answer]).toEqual(['succeeded', expect.stringMatching(/^(it: allow|paid)$/)]);
  });

  it('two runs of one function ask two questions', async () => {
    const flow = graph<{ task: string }>()
      .node(
        't',
        async (_state, step) => [
          (await asking.runOrThrow({ task: 'one' }, step.runOptions)).which,
          (await asking.runOrThrow({ task: 'two' }, step.runOptions)).which,
        ],
        { inputs: [] },
      )
      .setEntry('t');
    const store = memoryStore();
    let result = await flow.run({ task: 'it' }, { store, models });
    for (const value of ['yes', 'allow']) {
      answerRun(store, result.runId, { key: String(result.questions[0]?.key), value });
      result = await flow.run({}, { store, models, resume: result.runId });
    }
    expect(result.state.t).toEqual(['one: yes', 'two: allow']);
  });

  const payment = async (step: { readonly runOptions: object }): Promise<string> => {
    const { answer } = await payer.run('Pay.', step.runOptions);
    return `said: ${answer}`;
  };

  const paying = tool({ name: 'a', inputSchema: TASK, execute: async (_, io) => await payment(io) });
  const checked = async (step: { readonly runOptions: object }): Promise<string | undefined> => {
    const { success, state } = await asking.run({ task: 'it' }, step.runOptions);
    if (!success) throw new Error('the run inside failed');
    return state.which;
  };

  it.each([
    [
      'a function',
      graph<{ task: string }>()
        .node('t', async (_, step) => await payment(step), { inputs: [] })
        .setEntry('t'),
    ],
    [
      'a function that throws an error of its own',
      graph<{ task: string }>()
        .node('t', async (_, step) => await checked(step), { inputs: [] })
        .setEntry('t'),
    ],
    ['a tool', graph<{ task: string }>().node('t', toolNode(paying)).setEntry('t')],
  ])('%s that uses the result of a run which waits does not go on without the answer', async (_name, flow) => {
    const store = memoryStore();
    const first = await flow.run({ task: 'it' }, { store, models });
    expect([first.outcome, first.questions.length]).toEqual(['paused', 1]);
    answerRun(store, first.runId, { key: String(first.questions[0]?.key), value: 'allow' });
    const { outcome, state } = await flow.run({}, { store, models, resume: first.runId });
    expect([outcome, state['t']]).toEqual(['succeeded', expect.stringMatching(/^(said: paid|it: allow)$/)]);
  });

  it('is answered later where the function that answers can not, and an answer is used once it is there', async () => {
    const asked: string[] = [];
    const answer = (_question: unknown, address: string): Promise<never> => {
      asked.push(address);
      return Promise.reject(new SkeinError('SKEIN_QUESTION', 'no terminal to ask on'));
    };
    const flow = graph<{ task: string }>()
      .node('t', async ({ task }, step) => (await asking.runOrThrow({ task }, step.runOptions)).which)
      .setEntry('t');
    const store = memoryStore();
    const first = await flow.run({ task: 'it' }, { store, models, answer });
    const key = expect.stringMatching(/^t@ask:in:graph:[\w-]{8} which ask:1$/) as string;
    expect([first.outcome, first.questions.map((one) => one.key)]).toEqual(['paused', [key]]);
    answerRun(store, first.runId, { value: 'yes' });
    const { state } = await flow.run({}, { store, models, answer, resume: first.runId });
    expect([state['t'], asked]).toEqual(['it: yes', [key]]);
  });

  it('in a part of a step: the part waits, others go on, and each has its own answer', async () => {
    const made: string[] = [];
    const flow = graph<{ task: string }>()
      .node(
        't',
        async (_state, step) => {
          const [slow, ...said] = await Promise.all([
            step.run('slow', async () => {
              await new Promise((next) => setImmediate(next));
              made.push('slow');
              return 'slow';
            }),
            ...['one', 'two'].map((task) =>
              step.run('part', async () => (await asking.runOrThrow({ task }, step.runOptions)).which),
            ),
            step.run('own', async () => await step.ask({ text: 'Sure?', choices: ['yes', 'no'] })),
            step.run('own', async () => await step.ask({ text: 'Sure?', choices: ['yes', 'no'] })),
          ]);
          return [slow, ...said];
        },
        { inputs: [] },
      )
      .setEntry('t');
    const store = memoryStore();
    let result = await flow.run({ task: 'it' }, { store, models });
    const answers = {
      't@ask:run:own 1': 'yes',
      't@ask:run:own#2 1': 'no',
      't@ask:run:part#2+in:graph:Um3VUjwN which ask:1': 'allow',
      't@ask:run:part+in:graph:fzIRQFeW which ask:1': 'yes',
    };
    const keys = Object.keys(answers);
    for (const [at, [key, value]] of Object.entries(answers).entries()) {
      expect([result.outcome, result.questions.map((one) => one.key).toSorted()]).toEqual(['paused', keys.slice(at)]);
      answerRun(store, result.runId, { key, value });
      result = await flow.run({}, { store, models, resume: result.runId });
    }
    expect([result.state.t, made]).toEqual([['slow', 'one: yes', 'two: allow', 'yes', 'no'], ['slow']]);
  });

  it('knows that an answer came from outside: what it leads to waits for a person', async () => {
    const wire = tool({ name: 'wire', inputSchema: TASK, trust: 'trusted', execute: () => 'wired' });
    const choose = tool({
      name: 'choose',
      inputSchema: TASK,
      effect: 'read',
      trust: 'trusted',
      execute: async (_, io) => await io.ask({ text: 'To whom?' }),
    });
    const own = ownModels({
      m: (request) => {
        const [first] = resultsIn(request);
        if (first === undefined) return { calls: [['choose', { task: 'it' }]] };
        return resultsIn(request).length > 1 ? resultsIn(request).join() : { calls: [['wire', { task: first }]] };
      },
    });
    const wirer = agent({ name: 'wirer', model: 'own/m', tools: [choose, wire] });
    const flow = graph<{ task: string }>()
      .node('t', async ({ task }, step) => (await wirer.run(task, step.runOptions)).answer)
      .setEntry('t');
    const store = memoryStore();
    const by = async (source: 'code' | 'stdin'): Promise<readonly unknown[]> => {
      const { runId } = await flow.run({ task: 'it' }, { store, models: own.models });
      answerRun(store, runId, { value: 'Ada', by: source });
      const { outcome, questions } = await flow.run({}, { store, models: own.models, resume: runId });
      return [outcome, questions.map(({ key }) => isGuardQuestion(key))];
    };
    expect(await by('code')).toEqual(['succeeded', []]);
    expect(await by('stdin')).toEqual(['paused', [true]]);
  });

  it('the name of its question says whose it is', () => {
    const around = (address: string): string => askKey('t@tool#1.1', aroundName(address, 2));
    expect(isGuardQuestion(around('n@ask:guard#1.1'))).toBe(true);
    expect(moreOf(around('n@ask:budget:run:usd'))).toBeUndefined();
    expect(askerOf(around('n@tool#1.2.ask:1'))).toBe('t@tool#1.1');
  });
});
