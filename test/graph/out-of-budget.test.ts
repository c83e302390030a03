import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run, SkeinError } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool } from 'skein/graph';
import type { GraphResult, Guide, GuideOf } from 'skein/graph';
import type { ModelRequest } from '../../src/agent/model.js';
import { ownModels, resultsIn } from './support-agents.js';
import type { Said } from './support-agents.js';

const spent = (at: number): SkeinError =>
  new SkeinError('SKEIN_BUDGET', `the budget of ${at} calls is used up`, { hint: 'raise it', details: { at } });

/** Ends the step before call number `most`, or before round number `rounds`. */
function bound(most: number, rounds = Infinity): GuideOf {
  return (): Guide => ({
    before: (done) => (done.toolCalls >= most || done.rounds >= rounds ? spent(most) : undefined),
    isOver: () => false,
    end: ({ rounds: made, toolCalls, text }) => ({ goto: 'after', writes: { log: [{ made, toolCalls, text }] } }),
  });
}

const looked: string[] = [];
const look = tool({
  name: 'look',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
  effect: 'read',
  execute({ at }) {
    looked.push(String(at));
    return `seen ${String(at)}`;
  },
});

const calls = (...places: string[]): Said => ({ text: 'Looking.', calls: places.map((at) => ['look', { at }]) });

interface Search {
  readonly choice: GuideOf;
  readonly turns?: readonly Said[];
  readonly single?: boolean;
}

/** Three rounds with one, three and no calls. */
const TURNS: readonly Said[] = [calls('a'), calls('b', 'c', 'd'), 'Found.'];

function search({ choice, turns = TURNS, single = false }: Search) {
  looked.length = 0;
  const own = ownModels({ m: ({ caller }) => turns[caller.turn - 1] ?? 'too many turns' });
  const settings = single ? { singleToolCalls: true } : {};
  const searcher = agent({ name: 'search', model: 'own/m', tools: [look], settings });
  const node = agentNode(searcher, { choice, conversation: 'talk' });
  return { ...own, node };
}

interface State {
  task: string;
  before?: string;
  talk?: readonly { role: string }[];
  log?: readonly object[];
  after?: string;
  handled?: string;
}

function flowOf(given: Search, options: object = {}) {
  const { node, ...own } = search(given);
  const flow = graph<State>({ reducers: { talk: 'extend', log: 'extend' } })
    .node('before', () => 'done before')
    .node('search', node, { goto: ['after'], ...options })
    .node('after', () => 'went on')
    .addEdge('before', 'search')
    .setEntry('before');
  return { flow, ...own };
}

/** What has to be the same for every run that ended like this. */
function expectEnded(result: Pick<GraphResult, 'outcome' | 'success' | 'error' | 'state' | 'census'>, steps = 1): void {
  expect([result.outcome, result.success, result.error?.code, result.error?.message]).toEqual([
    'out_of_budget',
    false,
    'SKEIN_BUDGET',
    expect.stringMatching(/budget of \d calls is used up$/),
  ]);
  expect(result.census).toMatchObject({ out_of_budget: steps, failed: 0, degraded: 0 });
}

describe('a step that is out of budget ends its run', () => {
  it('before a call: it is not made, and what was written until then is in the state', async () => {
    const { flow, models, requests } = flowOf({ choice: bound(3) });
    const result = await flow.run({ task: 'x' }, { models });
    expectEnded(result);
    expect([looked, requests.length]).toEqual([['a', 'b', 'c'], 2]);
    const { before, after, talk = [], log } = result.state;
    expect([before, after, log]).toEqual(['done before', undefined, [{ made: 2, toolCalls: 3, text: 'Looking.' }]]);
    expect(talk.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(JSON.stringify(talk.at(-1))).toContain('Error: this call was not made: the budget of 3 calls is used up');
    expect(result.error).toMatchObject({ hint: 'raise it', details: { at: 3 } });
  });

  it('before a round: no model is called', async () => {
    const { flow, models, requests } = flowOf({ choice: bound(9, 1) });
    const result = await flow.run({ task: 'x' }, { models });
    expectEnded(result);
    expect([looked, requests.length, result.state.log]).toEqual([
      ['a'],
      1,
      [{ made: 1, toolCalls: 1, text: 'Looking.' }],
    ]);
    const none = flowOf({ choice: bound(0) });
    expectEnded(await none.flow.run({ task: 'x' }, { models: none.models }));
    expect(none.requests).toEqual([]);
  });

  it('among calls that are made one after the other', async () => {
    const { flow, models } = flowOf({ choice: bound(2), single: true });
    expectEnded(await flow.run({ task: 'x' }, { models }));
    expect(looked).toEqual(['a', 'b']);
  });

  it('is asked of calls from inside of a model call too: that call is cut off, and made again when the run continues', async () => {
    let most = 2;
    const choice: GuideOf = () => ({ ...bound(most)({} as never), end: () => ({}) });
    const { flow, requests } = flowOf({ choice });
    const answers: unknown[] = [];
    const own = (name: string) => ({
      id: `own/${name}`,
      async *stream(request: ModelRequest) {
        requests.push(request);
        for (const at of ['a', 'b', 'c']) {
          // A model that goes on whatever its tools say.
          answers.push(await request.dispatch({ id: at, name: 'look', input: `{"at":"${at}"}` }).catch(String));
        }
        yield { type: 'text' as const, text: 'Found.' };
        yield { type: 'finish' as const, reason: 'stop' as const, usage: { inputTokens: 1, outputTokens: 1 } };
      },
    });
    const models = { env: {}, noProbe: true, providers: { own } };
    const store = memoryStore();
    const result = await flow.run({ task: 'x' }, { models, store });
    expectEnded(result);
    expect([looked, requests.length, result.state.after]).toEqual([['a', 'b'], 1, undefined]);
    most = 9;
    const again = await flow.run({}, { models, store, resume: result.runId });
    expect([again.outcome, again.state.talk?.at(-1), requests.length]).toMatchObject([
      'succeeded',
      { text: 'Found.' },
      2,
    ]);
  });

  it.each([
    ['retry', { retry: { retries: 3, delayMs: 1, on: 'any' } }],
    ['onError: continue', { onError: 'continue' }],
    ['onError: ignore', { onError: 'ignore' }],
    ['onError: skipDependents', { onError: 'skipDependents' }],
    ['a handler', { onError: { to: 'after' } }],
    ['a timeout', { timeoutMs: 60_000 }],
  ])('whatever its policies say: %s', async (_, policy) => {
    const { flow, models, requests } = flowOf({ choice: bound(1) }, policy);
    const result = await flow.run({ task: 'x' }, { models });
    expectEnded(result);
    expect([requests.length, result.state.after, result.nodesRun]).toEqual([1, undefined, ['before']]);
  });

  it('cancels what runs beside it', async () => {
    const { node, models } = search({ choice: bound(1) });
    let aborted = false;
    const flow = graph<State>({ reducers: { talk: 'extend', log: 'extend' } })
      .node('begin', () => 'go')
      .node('search', node, { goto: ['after'] })
      .node('after', () => 'went on')
      .node('slow', ({ begin: _begin }: { begin: string }, step) => {
        return new Promise<string>((resolve) => {
          step.signal.addEventListener('abort', () => {
            aborted = true;
            resolve('aborted');
          });
        });
      })
      .addEdge('begin', 'search')
      .addEdge('begin', 'slow')
      .setEntry('begin');
    const result = await flow.run({ task: 'x' }, { models });
    expectEnded(result);
    expect([aborted, result.census.cancelled]).toEqual([true, 1]);
  });

  it('is told in events, metrics and reports', async () => {
    const { flow, models } = flowOf({ choice: bound(1) });
    const { events, metrics, answer } = await flow.run({ task: 'x' }, { models });
    const told = events.filter(({ node, type }) => node === 'search' && type === 'error');
    expect(told.map(({ metadata }) => metadata['code'])).toEqual(['SKEIN_BUDGET']);
    expect(events.at(-1)).toMatchObject({
      type: 'workflow_end',
      metadata: { success: false, outcome: 'out_of_budget', code: 'SKEIN_BUDGET' },
    });
    expect(events.map(({ type }) => type)).not.toContain('answer');
    expect([metrics.errorCount, answer]).toEqual([1, 'done before']);
    await expect(flowOf({ choice: bound(1) }).flow.runOrThrow({ task: 'x' }, { models })).rejects.toMatchObject({
      code: 'SKEIN_BUDGET',
    });
  });

  it('fails, and is no more out of budget, when its guide writes what no state takes', async () => {
    const choice: GuideOf = () => ({ ...bound(0)({} as never), end: () => ({ writes: { prototype: 1 } }) });
    const { flow, models } = flowOf({ choice });
    const { outcome, error } = await flow.run({ task: 'x' }, { models });
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_BAD_UPDATE']);
  });
});

describe('a workflow inside of a node that is out of budget', () => {
  const inner = () => {
    const { node, models, requests } = search({ choice: bound(1) });
    const { plan, bindings } = graph<State>({ reducers: { talk: 'extend', log: 'extend' } })
      .node('search', node, { goto: ['after'] })
      .node('after', () => 'went on')
      .setEntry('search')
      .compile();
    return { definition: { plan, bindings }, models, requests };
  };
  const around = (kind: object) => {
    const { definition, models } = inner();
    const given = definePlan({
      name: 'around',
      inputs: ['task', 'list'],
      channels: { talk: 'extend', log: 'extend', all: 'last' },
      nodes: [
        { id: 'before', output: 'before', run: () => 'done before' },
        { id: 'inside', plan: definition, ...kind } as never,
        { id: 'after', output: 'after', run: () => 'went on' },
        { id: 'handler', output: 'handled', run: () => 'handled' },
      ],
      edges: [['before', 'inside', 'after']],
    });
    return run(given, { inputs: { task: 'x', list: ['p', 'q'] }, models }).result;
  };
  const HANDLED = { onError: { to: 'handler' }, retry: { retries: 2, delayMs: 1, on: 'any' } };

  it('ends the run around a call, and writes what the call is to write', async () => {
    const outputs = { talk: 'talk', log: 'log', after: 'after' };
    const result = await around({ kind: 'call', outputs, ...HANDLED });
    expectEnded({ ...result, success: false } as never, 2);
    expect(Object.keys(result.state).toSorted()).toEqual(['before', 'list', 'log', 'talk', 'task']);
    expect(result.steps.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['inside/search', 'out_of_budget'],
      ['inside', 'out_of_budget'],
    ]);
  });

  it('ends the run around a loop, in whatever round', async () => {
    const result = await around({
      kind: 'loop',
      until: () => false,
      maxRounds: 3,
      onMaxRounds: 'continue',
      outputs: { log: 'log' },
      ...HANDLED,
    });
    expectEnded({ ...result, success: false } as never, 2);
    expect([result.steps[0]?.path, result.state['log']]).toEqual(['inside#1/search', [expect.anything()]]);
  });

  it.each(['fail', 'continue', 'leaveOut'])('ends the run around a map, onItemError: %s', async (onItemError) => {
    const map = { kind: 'map', over: { channel: 'list' }, item: 'task', result: 'after', output: 'all', maxItems: 9 };
    const result = await around({ ...map, concurrency: 1, onItemError, ...HANDLED });
    expectEnded({ ...result, success: false } as never, 2);
    expect([result.steps[0]?.path, result.state['all'], result.state['handled']]).toEqual([
      'inside[0]/search',
      undefined,
      undefined,
    ]);
  });
});

describe('a run of its own that is out of budget', () => {
  it('is an error result for the agent whose tool it is: its budget is not that of the run around', async () => {
    const { flow, models: inside } = flowOf({ choice: bound(1) });
    const { models, requests } = ownModels({
      lead: ({ caller }) => (caller.turn === 1 ? { calls: [['ask', { task: 'x' }]] } : 'I give up.'),
    });
    const helper = agentAsTool(
      { run: (task) => flow.asAgent().run(task, { models: inside }) },
      { name: 'ask', description: 'x' },
    );
    const lead = agent({ name: 'lead', model: 'own/lead', tools: [helper] });
    const { outcome, answer } = await lead.run('x', { models });
    expect([outcome, answer]).toEqual(['succeeded', 'I give up.']);
    expect(resultsIn(requests[1] as never)[0]).toContain('the budget of 1 calls is used up');
  });
});
