import { describe, expect, it } from 'vitest';
import { SkeinError } from 'skein';
import type { SuperviseRequest } from 'skein';
import { agent, agentNode, eventNode, graph, workflowNode } from 'skein/graph';
import type { SuperviseInput } from 'skein/graph';
import { loadDagText } from 'skein/yaml';
import type { Plan } from '../../src/plan/plan.js';

const writer = agent({ name: 'writer', model: 'mock/echo', instructions: 'You write.' });

/** Supervision of each node that has one, by its address; `nobody` for one that opts out. */
function supervised(plan: Plan, path = ''): Record<string, unknown> {
  const all = plan.nodes.map((node): Record<string, unknown> => {
    const own = node.unsupervised === true ? 'nobody' : node.supervise;
    return {
      ...(own === undefined ? {} : { [path + node.id]: own }),
      ...('plan' in node ? supervised(node.plan, `${path}${node.id}/`) : {}),
    };
  });
  return Object.assign({}, ...all) as Record<string, unknown>;
}

const one = (around: SuperviseInput | undefined, own: SuperviseInput | undefined) =>
  graph<{ task: string }>(around === undefined ? {} : { supervise: around })
    .node('a', agentNode(writer), own === undefined ? {} : { supervise: own })
    .node('b', ({ a }) => a, {})
    .setEntry('a');

function problemsOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (error instanceof SkeinError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

describe('supervise of a graph', () => {
  it.each<[SuperviseInput | undefined, SuperviseInput | undefined, unknown]>([
    [undefined, undefined, {}],
    [true, undefined, { a: { by: 'model' } }],
    [true, false, { a: 'nobody' }],
    [false, true, { a: { by: 'model' } }],
    [true, { human: true }, { a: { by: 'human' } }],
    [{ human: true, maxReorients: 2 }, { maxReorients: 0 }, { a: { by: 'human', maxReorients: 0 } }],
    [{ model: 'mock/echo' }, { instruction: 'About {{ task }}' }, undefined],
  ])('[addition 3] [S1] %j around %j: agents, and no functions', (around, own, expected) => {
    const { plan } = one(around, own).compile();
    const instruction = ['About ', { channel: 'task' }];
    expect(supervised(plan)).toEqual(expected ?? { a: { by: 'model', model: 'mock/echo', instruction } });
  });

  it('[addition 3] reaches the agents of other workflows and of maps, and nothing that says something else', async () => {
    const inner = graph<{ task: string }>()
      .node('draft', agentNode(writer))
      .node('free', agentNode(writer), { supervise: false })
      .addEdge('draft', 'free')
      .setEntry('draft');
    const yaml = await loadDagText(
      'name: t\nsupervise: {max_reorients: 3}\nagents: {w: {inline: {prompt: x}}}\nsteps: [{id: s, agent: w, prompt: p}]\n',
      { cwd: process.cwd() },
    );
    const { plan } = graph<{ task: string; items: readonly string[] }>({ supervise: { human: false } })
      .node('call', workflowNode(inner, 'call', { answerKey: 'draft' }))
      .node('file', workflowNode(yaml, 'file'))
      .map('each', { over: 'items', item: 'task', answerKey: 'draft' }, inner)
      .map('not', { over: 'items', item: 'task', answerKey: 'draft', supervise: false }, inner)
      .compile();
    expect(supervised(plan)).toEqual({
      'call/draft': { by: 'model' },
      'call/free': 'nobody',
      'file/s': { by: 'model', maxReorients: 3 },
      'each/draft': { by: 'model' },
      'each/free': 'nobody',
      not: 'nobody',
      'not/free': 'nobody',
    });
  });

  it('[addition 3] reaches agents that are not made by agent(), wherever they stand: they promise their task', async () => {
    const own = { run: (task: string) => `own ${task}` };
    const inner = graph<{ task: string }>().node('deep', agentNode(own)).setEntry('deep');
    const asked: string[] = [];
    const judge = {
      reconcile: () => ({ triggers: ['look'], escalate: true }),
      supervise: ({ path, goal, output }: SuperviseRequest) => {
        asked.push(`${path}: ${goal}: ${JSON.stringify(output)}`);
        return { verdict: 'continue' as const };
      },
    };
    const flow = graph<{ task: string }>({ supervise: { supervisor: judge, model: 'mock/echo' } })
      .node('own', agentNode(own))
      .node('call', workflowNode(inner, 'call', { answerKey: 'deep' }))
      .node('free', agentNode(own), { supervise: false })
      .addEdge('own', 'call')
      .addEdge('call', 'free')
      .setEntry('own');
    const { outcome } = await flow.run({ task: 'Rain' });
    expect([outcome, asked]).toEqual(['succeeded', ['own: Rain: "own Rain"', 'call/deep: Rain: "own Rain"']]);
  });

  it('[addition 3] a function, a workflow and a map are supervised as a whole, by an instruction', () => {
    const inner = graph<{ task: string }>().node('draft', agentNode(writer)).setEntry('draft');
    const promise = { human: true, instruction: 'Do {{ task }}' };
    const { plan } = graph<{ task: string; items: readonly string[] }>()
      .node('fn', ({ task }) => task, { supervise: promise })
      .node('call', workflowNode(inner, 'call'), { supervise: promise })
      .map('each', { over: 'items', item: 'task', supervise: promise }, inner)
      .compile();
    const whole = { by: 'human', instruction: ['Do ', { channel: 'task' }] };
    expect(supervised(plan)).toEqual({ fn: whole, call: whole, each: whole });
  });

  it('[addition 3] what is promised names values of the state: they are waited for, or given', () => {
    const { plan } = graph<{ topic: string; tone: string }>()
      .node('notes', ({ topic }) => topic)
      .node('draft', () => 'text', { supervise: { instruction: 'Say {{ notes }} in a {{ tone }} tone' } })
      .compile();
    expect(plan.edges).toEqual([{ from: 'notes', to: 'draft' }]);
    expect(plan.inputs.map(({ name }) => name)).toEqual(['topic', 'tone']);
  });

  it('[addition 3] a supervisor of your own is bound to each node that it judges, also inside', () => {
    const supervisor = {
      reconcile: () => ({ triggers: [], escalate: false }),
      supervise: () => ({ verdict: 'continue' as const }),
    };
    const inner = graph<{ task: string }>().node('draft', agentNode(writer)).setEntry('draft');
    const { plan, bindings } = graph<{ task: string }>({ supervise: { supervisor } })
      .node('a', agentNode(writer))
      .node('call', workflowNode(inner, 'call'))
      .node('fn', ({ task }) => task, { supervise: { instruction: 'x' } })
      .compile();
    const judged = { by: 'model', supervisor: 'code' };
    expect(supervised(plan)).toEqual({ a: judged, 'call/draft': judged, fn: { ...judged, instruction: ['x'] } });
    const keys = Object.keys(bindings).filter((key) => key.includes('supervise:'));
    expect(keys.toSorted()).toEqual(['call/supervise:draft', 'supervise:a', 'supervise:fn']);
    expect(new Set(keys.map((key) => bindings[key]))).toEqual(new Set([supervisor]));
  });
});

describe('what can not be', () => {
  it.each<[SuperviseInput, string]>([
    [false, 'the node "a" opts out of the supervision by a person'],
    [true, 'the node "a" lets a model take over the supervision by a person'],
    [{ human: false }, 'the node "a" lets a model take over the supervision by a person'],
  ])('[decision 7] below a person %j is a problem', (own, message) => {
    const told = problemsOf(() => one({ human: true }, own).compile());
    expect(told).toContain('error human-gate');
    expect(told).toContain(message);
  });

  it('[decision 7] a workflow inside can not remove the gate of a person', () => {
    const inner = graph<{ task: string }>().node('draft', agentNode(writer), { supervise: false }).setEntry('draft');
    const flow = graph<{ task: string }>({ supervise: { human: true } }).node('call', workflowNode(inner, 'call'));
    expect(problemsOf(() => flow.compile())).toContain('the node "call/draft" opts out');
  });

  it.each<[unknown, RegExp]>([
    ['human', /supervise of the \w+( "a")?: it must be true, false or options/],
    [{ humans: true }, /there is no option "humans"[^]*did you mean "human"/],
    [{ human: 'yes' }, /human must be true or false/],
    [{ model: 'gpt' }, /model must be provider\/model/],
    [{ maxReorients: -1 }, /maxReorients must be a whole number from 0 to 1000/],
    [{ maxReorients: 1.5 }, /maxReorients/],
    [{ instruction: 5 }, /instruction must be text/],
    [{ supervisor: { supervise: () => undefined } }, /supervisor needs the methods reconcile and supervise/],
  ])('[addition 3] %j is refused where it is given', (input, message) => {
    expect(problemsOf(() => one(undefined, input as SuperviseInput))).toMatch(message);
    expect(problemsOf(() => graph({ supervise: input as SuperviseInput }))).toMatch(message);
  });

  it('[addition 3] a question, a wait, and what promises nothing', () => {
    const flow = graph<{ task: string }>()
      .node('wait', eventNode('paid'), { supervise: { human: true, instruction: 'x' } })
      .node('fn', ({ task }) => task, { supervise: true });
    const told = problemsOf(() => flow.compile());
    expect(told).toMatch(/"wait" can't be supervised/);
    expect(told).toMatch(/"fn" is supervised, and nothing says what it promises/);
  });
});
