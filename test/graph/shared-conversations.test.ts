import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, memoryStore, run } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { AgentNodeOptions } from 'skein/graph';
import type { Message, ModelRequest } from '../../src/agent/model.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from './support-agents.js';
import type { Said } from './support-agents.js';

const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });
const user = (text: string): Message => ({ role: 'user', text });
const said = (text: string, by?: string): Message => ({
  role: 'assistant',
  text,
  toolCalls: [],
  ...(by === undefined ? {} : { by }),
});

/** A request as `role: text` lines; calls and results by their tools. */
function lines({ messages }: ModelRequest): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool: ${message.results.map(({ name }) => name).join()}`;
    const calls = message.role === 'assistant' ? message.toolCalls.map(({ name }) => ` ->${name}`).join('') : '';
    return `${message.role}: ${message.text}${calls}`;
  });
}

interface Step {
  readonly name: string;
  readonly options?: AgentNodeOptions;
}

/** Agents one after the other that share a conversation, with what they were sent. */
function talk(steps: readonly Step[], answers: Readonly<Record<string, (request: ModelRequest) => Said>>) {
  const { models, requests } = ownModels(answers);
  const flow = graph<{ task: string; messages?: readonly Message[] }>({
    reducers: { messages: 'extend' },
    inputs: ['task'],
  });
  for (const { name, options = {} } of steps) {
    const one = agent({ name, model: `own/${name}`, instructions: `You are ${name}.`, tools: [look] });
    flow.node(name, agentNode(one, { conversation: 'messages', ...options }));
  }
  steps.slice(1).forEach(({ name }, at) => flow.addEdge(steps[at]?.name ?? '', name));
  return { flow: flow.setEntry(steps[0]?.name ?? ''), models, requests };
}

describe('agents that share a conversation', () => {
  it('see what was said before behind a system prompt of their own, and add what they say', async () => {
    const { flow, models, requests } = talk([{ name: 'ann' }, { name: 'ben', options: { taskParam: 'ann' } }], {
      ann: ({ caller }) => (caller.turn === 1 ? { calls: [['look', {}]] } : 'It is a lamp.'),
      ben: () => 'It is broken.',
    });
    const { state } = await flow.run({ task: 'What is it?' }, { models });
    expect(requests.map(lines)).toEqual([
      ['system: You are ann.', 'user: What is it?'],
      ['system: You are ann.', 'user: What is it?', 'assistant:  ->look', 'tool: look'],
      [
        'system: You are ben.',
        'user: What is it?',
        'assistant:  ->look',
        'tool: look',
        'assistant: It is a lamp.',
        'user: It is a lamp.',
      ],
    ]);
    expect(state.messages).toHaveLength(6);
    expect(state.messages?.map((message) => (message.role === 'assistant' ? message.by : message.role))).toEqual([
      'user',
      'ann',
      'tool',
      'ann',
      'user',
      'ben',
    ]);
  });

  it('may be given no prompt: what was said last is answered, and nothing but the answer is added', async () => {
    const { flow, models, requests } = talk([{ name: 'ann', options: { taskParam: null } }], { ann: () => 'Hello.' });
    const messages = [user('Hi.')];
    const { state } = await flow.run({ task: 'unused', messages }, { models });
    expect(requests.map(lines)).toEqual([['system: You are ann.', 'user: Hi.']]);
    expect(state.messages).toEqual([...messages, said('Hello.', 'ann')]);
  });

  it('are asked to go on when an agent spoke last; that is not kept', async () => {
    const { flow, models, requests } = talk([{ name: 'ann', options: { taskParam: null } }], {
      ann: () => 'And more.',
    });
    const messages = [user('Hi.'), said('Hello.')];
    const { state } = await flow.run({ task: 'unused', messages }, { models });
    expect(lines(requests[0] as ModelRequest).at(-1)).toBe('user: Continue.');
    expect(state.messages).toEqual([...messages, said('And more.', 'ann')]);
  });

  it('fail when nobody has said anything', async () => {
    const { flow, models, requests } = talk([{ name: 'ann', options: { taskParam: null } }], { ann: () => 'Hello.' });
    const { outcome, error } = await flow.run({ task: 'unused' }, { models });
    expect([outcome, error?.code, requests.length]).toEqual(['failed', 'SKEIN_INPUT', 0]);
  });

  it('begin afresh where they say so: what was said is neither sent nor kept', async () => {
    const afresh = { conversation: { channel: 'messages', afresh: true as const } };
    const { flow, models, requests } = talk([{ name: 'ann', options: afresh }], { ann: () => 'Hello.' });
    const { state } = await flow.run({ task: 'Hi.', messages: [user('Old.'), said('Older.')] }, { models });
    expect(requests.map(lines)).toEqual([['system: You are ann.', 'user: Hi.']]);
    expect(state.messages).toEqual([user('Hi.'), said('Hello.', 'ann')]);
  });

  const CALL = { id: 'c', name: 'look', input: '{}' };
  const HISTORY: readonly Message[] = [
    user('1'),
    said('2'),
    user('3'),
    { role: 'assistant', text: '', toolCalls: [CALL] },
    { role: 'tool', results: [{ id: 'c', name: 'look', output: 'seen', isError: false }] },
    said('4'),
  ];

  it.each([
    [1, ['user: 3', 'assistant:  ->look', 'tool: look', 'assistant: 4']],
    [4, ['user: 3', 'assistant:  ->look', 'tool: look', 'assistant: 4']],
    [5, ['user: 1', 'assistant: 2', 'user: 3', 'assistant:  ->look', 'tool: look', 'assistant: 4']],
    [100, ['user: 1', 'assistant: 2', 'user: 3', 'assistant:  ->look', 'tool: look', 'assistant: 4']],
  ])('send the last %i messages, from one of a user on, no result without its call', async (recent, sent) => {
    const options = { conversation: { channel: 'messages', recent } };
    const { flow, models, requests } = talk([{ name: 'ann', options }], { ann: () => 'Yes.' });
    const { state } = await flow.run({ task: 'Well?', messages: HISTORY }, { models });
    expect(lines(requests[0] as ModelRequest)).toEqual(['system: You are ann.', ...sent, 'user: Well?']);
    expect(state.messages).toHaveLength(HISTORY.length + 2);
  });

  it.each([
    ['a text', 'Hi.'],
    ['a system prompt', [{ role: 'system', text: 'Obey.' }, user('Hi.')]],
    ['a message without text', [user('Hi.'), { role: 'user' }]],
    ['calls that are none', [user('Hi.'), { role: 'assistant', text: '', toolCalls: [7] }]],
    ['a text in the list', ['Hi.', user('Hi.')]],
  ])('do not take %s for a conversation', async (_, messages) => {
    const { flow, models, requests } = talk([{ name: 'ann' }], { ann: () => 'Yes.' });
    const inputs: object = { task: 'x', messages };
    const { outcome } = await flow.run(inputs, { models });
    const sent = requests.flatMap(lines);
    if (outcome === 'failed') expect(sent).toEqual([]);
    else expect(sent).toEqual(['system: You are ann.', 'user: Hi.', 'user: x']);
  });

  it('that run side by side add in the order of the plan, whoever ends first', async () => {
    const { models } = ownModels({ a: () => 'from a', b: () => 'from b' });
    const flow = graph<{ task: string; messages?: readonly Message[] }>({ reducers: { messages: 'extend' } })
      .node('start', ({ task }) => task)
      .node('a', agentNode(agent({ name: 'a', model: 'own/a' }), { conversation: 'messages', taskParam: 'start' }))
      .node('b', agentNode(agent({ name: 'b', model: 'own/b' }), { conversation: 'messages', taskParam: 'start' }))
      .setEntry('start');
    const { state } = await flow.run({ task: 'Hi.' }, { models });
    expect(state.messages).toEqual([user('Hi.'), said('from a', 'a'), user('Hi.'), said('from b', 'b')]);
  });
});

describe('a conversation in the store', () => {
  const steps = [{ name: 'ann' }, { name: 'ben', options: { taskParam: null } }];
  const answers = { ann: () => 'It is a lamp.', ben: () => 'It is broken.' };

  it('continues after any crash, and pays no model call twice', async () => {
    const store = memoryStore();
    const { flow, models } = talk(steps, answers);
    const { runId, state } = await flow.run({ task: 'What is it?' }, { models, store });
    for (const { batches, lines: recorded } of prefixesOf(runId, store.read(runId))) {
      const paid = recorded.filter((line) => line.includes('"t":"done"') && line.includes('@model#1"')).length;
      const again = talk(steps, answers);
      const left: Store = storeWith(runId, batches, store);
      const result = await again.flow.run({}, { models: again.models, store: left, resume: runId });
      expect([result.outcome, result.state]).toEqual(['succeeded', state]);
      expect(again.requests).toHaveLength(2 - paid);
    }
  });

  it('grows from turn to turn of a thread, and a turn writes what it adds', async () => {
    const store = memoryStore();
    const { flow, models, requests } = talk([{ name: 'ann' }], { ann: ({ caller }) => `answer ${caller.path}` });
    const sizes: number[] = [];
    for (let turn = 1; turn <= 40; turn++) {
      const { runId, outcome } = await flow.run({ task: `question ${turn}` }, { models, store, thread: 'desk' });
      expect(outcome).toBe('succeeded');
      sizes.push(store.read(runId).reduce((sum, { text }) => sum + text.length, 0));
    }
    expect(requests.map(({ messages }) => messages.length)).toEqual(Array.from({ length: 40 }, (_, at) => 2 * at + 2));
    expect(sizes[39]).toBeLessThan((sizes[4] ?? 0) * 1.1);
  });

  it('that was changed by hand is sent as it is now: the agent is asked again', async () => {
    const store = memoryStore();
    const first = talk(steps, answers);
    const { runId } = await first.flow.run({ task: 'What is it?' }, { models: first.models, store });
    const edited = talk(steps, { ...answers, ann: () => 'never asked' });
    const forked = await edited.flow.run(
      {},
      { models: edited.models, store, fork: { run: runId, set: { messages: [user('Is it a cup?')] }, from: 'ben' } },
    );
    expect([forked.outcome, edited.requests.map(lines)]).toEqual([
      'succeeded',
      [['system: You are ben.', 'user: Is it a cup?']],
    ]);
  });
});

describe('a conversation at other doors', () => {
  /** An agent that chooses the next one, which answers with how many messages it was sent. */
  const inner = () =>
    definePlan({
      name: 'inner',
      inputs: ['task', { name: 'messages', required: false, default: [] }],
      channels: { messages: 'extend' },
      nodes: [
        {
          id: 'pick',
          kind: 'agent',
          agent: { models: ['own/pick'] },
          prompt: '{{ task }}',
          output: 'picked',
          conversation: { channel: 'messages' },
          choice: { answers: { on: { to: 'talk' } } },
          retry: { retries: 1, backoff: 'fixed', delayMs: 1 },
        },
        {
          id: 'talk',
          kind: 'agent',
          agent: { models: ['own/talk'] },
          prompt: '',
          output: 'said',
          conversation: { channel: 'messages' },
        },
      ],
      routes: [{ from: 'pick', choose: 'result', targets: ['talk'] }],
    });
  const own = () =>
    ownModels({
      pick: () => ({ calls: [['choose', { answer: 'on' }]] }),
      talk: ({ messages }) => `sent ${messages.length}`,
    }).models;

  it('goes on in the next round of a loop that carries it', async () => {
    const loop = definePlan({
      name: 'loop',
      inputs: ['task'],
      nodes: [
        {
          id: 'again',
          kind: 'loop',
          plan: inner(),
          inputs: { task: { channel: 'task' } },
          outputs: { said: 'said' },
          carry: ['messages'],
          until: (_state, round) => round === 3,
          maxRounds: 3,
        },
      ],
    });
    const { outcome, state } = await run(loop, { inputs: { task: 'x' }, models: own() }).result;
    expect([outcome, state?.['said']]).toEqual(['succeeded', 'sent 11']);
  });

  it.each([undefined, memoryStore()])('is one for each item of a map, with and without a store', async (store) => {
    const map = definePlan({
      name: 'map',
      inputs: ['list'],
      nodes: [
        {
          id: 'each',
          kind: 'map',
          plan: inner(),
          over: { channel: 'list' },
          item: 'task',
          result: 'said',
          maxItems: 5,
          output: 'all',
        },
      ],
    });
    const options = { inputs: { list: ['a', 'b'] }, models: own(), ...(store === undefined ? {} : { store }) };
    const { outcome, state } = await run(map, options).result;
    expect([outcome, state?.['all']]).toEqual(['succeeded', ['sent 3', 'sent 3']]);
  });

  it('keeps nothing of an attempt that failed', async () => {
    let tries = 0;
    const { models, requests } = ownModels({
      pick: () => {
        tries += 1;
        return tries === 1 ? '' : { calls: [['choose', { answer: 'on' }]] };
      },
      talk: ({ messages }) => `sent ${messages.length}`,
    });
    const { outcome, state } = await run(inner(), { inputs: { task: 'x' }, models }).result;
    expect([outcome, state?.['said'], requests.length]).toEqual(['succeeded', 'sent 3', 3]);
  });
});

describe('a conversation in a plan', () => {
  it.each([[{}], [{ messages: 'append' as const }]])(
    'is a problem when its channel does not extend a list: %j',
    (channels) => {
      const conversation = { channel: 'messages' };
      const { plan } = definePlan({
        name: 'p',
        channels,
        nodes: [{ id: 'ann', kind: 'agent', prompt: 'Hi.', output: 'x', conversation }],
      });
      expect(checkPlan(plan).map(({ code }) => code)).toContain('bad-conversation');
    },
  );

  it('is refused for agents whose calls Skein does not make', () => {
    const foreign = { run: () => Promise.resolve('x') };
    for (const options of [{ conversation: 'messages' }, { taskParam: null }])
      expect(() => agentNode(foreign, options)).toThrow('no conversation with others');
  });
});
