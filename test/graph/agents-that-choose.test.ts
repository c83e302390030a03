import { describe, expect, it } from 'vitest';
import { answerRun, checkPlan, definePlan, memoryStore, run } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, reflectionLoop, tool } from 'skein/graph';
import type { ChoiceInput, ToolDefinition } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';
import type { Said } from './support-agents.js';

const ANSWERS = { refund: { to: 'refunds', about: 'The customer wants money back.' }, other: 'desk' };

interface Desk {
  readonly turns: readonly Said[];
  readonly tools?: readonly ToolDefinition[];
  readonly choice?: ChoiceInput;
  readonly approve?: readonly string[];
}

/** An agent that sends customers on, and two nodes of which it chooses one. */
function desk({ turns, tools = [], choice = { answers: ANSWERS }, approve = [] }: Desk) {
  const { models, requests } = ownModels({ m: ({ caller }) => turns[caller.turn - 1] ?? 'too many turns' });
  const flow = graph<{ task: string }>()
    .node('triage', agentNode(agent({ name: 'triage', model: 'own/m', tools, approve }), { choice }))
    .node('refunds', ({ triage }) => `refund: ${triage}`)
    .node('desk', ({ triage }) => `desk: ${triage}`)
    .setEntry('triage');
  return { flow, models, requests };
}

const choose = (answer: unknown, text = ''): Said => ({ text, calls: [['choose', { answer }]] });
const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });

describe('an agent that chooses', () => {
  it('goes on where the call of its tool says, without another turn, and its text is its answer', async () => {
    const { flow, models, requests } = desk({ turns: [choose('refund', 'You get it back.')] });
    const result = await flow.run({ task: 'My lamp is broken.' }, { models });
    expect([result.outcome, result.state]).toMatchObject([
      'succeeded',
      { triage: 'You get it back.', refunds: 'refund: You get it back.' },
    ]);
    expect(result.state).not.toHaveProperty('desk');
    expect(requests).toHaveLength(1);
    expect(requests[0]?.tools).toEqual([
      {
        name: 'choose',
        description: expect.stringMatching(
          /^Choose what happens next\..*\nrefund: The customer wants money back\.$/,
        ) as string,
        inputSchema: {
          type: 'object',
          properties: {
            answer: { type: 'string', enum: ['refund', 'other'], description: expect.any(String) as string },
          },
          required: ['answer'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it('may say nothing with it: the empty text is no failure then', async () => {
    const { flow, models } = desk({ turns: [choose('other')] });
    expect((await flow.run({ task: 'x' }, { models })).state).toMatchObject({ triage: '', desk: 'desk: ' });
  });

  it('is not believed when it only writes what it chooses, as text, as JSON or in the result of a tool', async () => {
    const liar = tool({
      name: 'liar',
      inputSchema: { type: 'object' },
      effect: 'read',
      execute: () => '{"answer":"refund"}',
    });
    for (const text of ['refund', '{"answer":"refund"}', '{"goto":"refunds"}', 'choose({"answer":"refund"})']) {
      const { flow, models } = desk({ turns: [{ calls: [['liar', {}]] }, text], tools: [liar] });
      const { outcome, state } = await flow.run({ task: 'x' }, { models });
      expect([outcome, state['triage'], state['refunds'], state['desk']]).toEqual([
        'succeeded',
        text,
        undefined,
        undefined,
      ]);
    }
  });

  it.each([['nobody'], ['Refund'], [7], [null], ['__proto__'], ['toString']])(
    'is told what it may answer when it says %j, and can say it better',
    async (answer) => {
      const { flow, models, requests } = desk({ turns: [choose(answer), choose('other')] });
      expect((await flow.run({ task: 'x' }, { models })).state).toHaveProperty('desk');
      const [told] = requests[1] === undefined ? [] : resultsIn(requests[1]);
      expect(told).toMatch(/^Error: .*answer/);
    },
  );

  it('chooses once: a second call of the same turn is refused, the first holds', async () => {
    const calls = [
      ['choose', { answer: 'refund' }],
      ['choose', { answer: 'other' }],
    ] as const;
    const { flow, models } = desk({ turns: [{ calls }] });
    const { state, events } = await flow.run({ task: 'x' }, { models });
    expect([state['refunds'], state['desk']]).toEqual(['refund: ', undefined]);
    expect(JSON.stringify(events)).toContain('is chosen already');
  });

  it('ends after the other calls of the turn, in whatever order they come', async () => {
    const done: string[] = [];
    const slow = tool({
      name: 'slow',
      inputSchema: { type: 'object' },
      effect: 'read',
      async execute() {
        await new Promise((resolve) => setImmediate(resolve));
        done.push('slow');
        return 'slow';
      },
    });
    const { flow, models, requests } = desk({
      turns: [
        {
          calls: [
            ['choose', { answer: 'refund' }],
            ['slow', {}],
          ],
        },
      ],
      tools: [slow],
    });
    const { state } = await flow.run({ task: 'x' }, { models });
    expect([state['refunds'], done, requests.length]).toEqual(['refund: ', ['slow'], 1]);
  });

  it('waits for a person whom another call of the turn asks', async () => {
    const store = memoryStore();
    const { flow, models, requests } = desk({
      turns: [
        {
          calls: [
            ['choose', { answer: 'refund' }],
            ['look', {}],
          ],
        },
      ],
      tools: [look],
      approve: ['look'],
    });
    const first = await flow.run({ task: 'x' }, { models, store });
    expect([first.outcome, first.state['refunds']]).toEqual(['paused', undefined]);
    answerRun(store, first.runId, { value: 'allow' });
    const second = await flow.run({}, { models, store, resume: first.runId });
    expect([second.outcome, second.state['refunds'], requests.length]).toEqual(['succeeded', 'refund: ', 1]);
  });
});

describe('a recorded run with an agent that chooses', () => {
  it('continues after any crash with the same choice, and pays no model call twice', async () => {
    const store = memoryStore();
    const turns = [choose('nobody'), { calls: [['look', {}]] as const }, choose('refund', 'Done.')];
    const { flow, models } = desk({ turns, tools: [look] });
    const { runId, state } = await flow.run({ task: 'x' }, { models, store });
    const batches = store.read(runId);
    for (const { batches: some, lines } of prefixesOf(runId, batches)) {
      const paid = lines.filter((line) => line.includes('"t":"done"') && line.includes('"triage@model#')).length;
      const again = desk({ turns, tools: [look] });
      const left: Store = storeWith(runId, some, store);
      const result = await again.flow.run({}, { models: again.models, store: left, resume: runId });
      expect([result.outcome, result.state]).toEqual(['succeeded', state]);
      expect(again.requests).toHaveLength(turns.length - paid);
    }
  });

  it('asks the agent again when its answers lead elsewhere', async () => {
    const store = memoryStore();
    const first = desk({ turns: [choose('refund')] });
    const { runId } = await first.flow.run({ task: 'x' }, { models: first.models, store });
    const edited = desk({ turns: [choose('refund')], choice: { answers: { refund: 'desk', other: 'refunds' } } });
    const forked = await edited.flow.run({}, { models: edited.models, store, fork: { run: runId } });
    expect([forked.state['desk'], forked.state['refunds'], edited.requests.length]).toEqual(['desk: ', undefined, 1]);
  });
});

describe('an agent that chooses in a plan', () => {
  const plan = (more: object, routes: object[]) =>
    definePlan({
      name: 'p',
      inputs: ['task'],
      nodes: [
        {
          id: 'triage',
          kind: 'agent',
          agent: { models: ['own/m'] },
          prompt: '{{ task }}',
          output: 'said',
          ...more,
        } as never,
        { id: 'desk', run: () => ({ handled: true }) },
      ],
      routes: routes as never,
    });
  const ROUTE = { from: 'triage', choose: 'result', targets: ['desk'] };

  it('takes `otherwise` of the route when the tool is not called', async () => {
    const { models } = ownModels({ m: () => 'I do not know.' });
    const choice = { tool: 'send', answers: { on: { to: 'desk' }, off: { to: 'END' } } };
    const definition = plan({ choice }, [{ ...ROUTE, otherwise: ['desk'] }]);
    expect((await run(definition, { inputs: { task: 'x' }, models }).result).state).toMatchObject({ handled: true });
    const off = ownModels({ m: () => ({ calls: [['send', { answer: 'off' }]] }) });
    expect((await run(definition, { inputs: { task: 'x' }, models: off.models }).result).state).not.toHaveProperty(
      'handled',
    );
  });

  it.each([
    ['has no answers', { choice: { answers: {} } }, [ROUTE], 'bad-choice'],
    ['has a tool named "a b"', { choice: { tool: 'a b', answers: { on: { to: 'desk' } } } }, [ROUTE], 'bad-choice'],
    ['leads nowhere', { choice: { answers: { on: { to: 'desk' } } } }, [], 'bad-choice'],
    ['leads to "dsk", which is not a node', { choice: { answers: { on: { to: 'dsk' } } } }, [ROUTE], 'unknown-node'],
    [
      'leads to "desk", which is not among the targets',
      { choice: { answers: { on: { to: 'desk' } } } },
      [{ ...ROUTE, targets: ['triage'] }],
      'undeclared-target',
    ],
    [
      'ends its step at a call, so that there is no answer with a schema',
      { choice: { answers: { on: { to: 'desk' } } }, agent: { models: [], output: { schema: {} } } },
      [ROUTE],
      'bad-choice',
    ],
    ["is of kind 'agent': only the result of a function", {}, [ROUTE], 'bad-route'],
  ])('is a problem when it %s', (text, more, routes, code) => {
    const { plan: made, bindings } = plan(more, routes);
    expect(checkPlan(made, bindings)).toContainEqual(
      expect.objectContaining({ code, message: expect.stringContaining(text) as string }),
    );
  });

  it('is refused for agents of which Skein does not know the tools', () => {
    const writer = agent({ name: 'writer', model: 'own/m' });
    const loop = reflectionLoop({ worker: writer, critic: agent({ name: 'critic', model: 'own/m' }) });
    for (const one of [loop, { run: () => 'x' }])
      expect(() => agentNode(one as never, { choice: { answers: { on: 'desk' } } })).toThrow(
        'choose by the call of a tool',
      );
  });
});
