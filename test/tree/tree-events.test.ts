import { describe, expect, it } from 'vitest';
import { run, memoryStore } from 'skein';
import { attributesOf, preflightFailed, treeEvents } from '../../src/tree/events.js';
import type { TreeEvent } from '../../src/tree/events.js';
import { ownModels } from '../graph/support-agents.js';
import type { Said } from '../graph/support-agents.js';
import type { AgentNode, Plan, PlanNode } from '../../src/plan/plan.js';
import { plan } from '../engine/plans.js';

const agent = (id: string, more: Partial<AgentNode> = {}): AgentNode => ({
  kind: 'agent',
  id,
  agent: { name: id, instructions: [], models: [`own/${id}`], tools: [] },
  prompt: ['Go on.'],
  output: id,
  ...more,
});

const team: PlanNode = {
  id: 'team',
  kind: 'call',
  role: 'goal',
  about: ['Review ', { channel: 'draft' }, ' of ', { channel: 'topic' }],
  plan: plan({
    name: 'team',
    nodes: [
      agent('ann', { role: 'subagent' }),
      agent('bob', { role: 'subagent', label: 'Bob' }),
      agent('all', { role: 'synthesis' }),
    ],
    edges: ['ann>all', 'bob>all'],
  }),
  outputs: { team: 'all' },
};

const polish: PlanNode = {
  id: 'polish',
  kind: 'loop',
  role: 'convergence',
  plan: plan({ name: 'polish', nodes: [agent('text')] }),
  inputs: {},
  outputs: { polish: 'text' },
  until: [{ op: 'line', value: { channel: 'text' }, line: 'CONVERGED' }],
  keep: 'before',
  maxRounds: 2,
  onMaxRounds: 'continue',
};

/** A goal that is an agent, one with a team, a convergence. */
const tree: Plan = {
  ...plan({
    name: 'essay',
    nodes: [agent('draft', { role: 'goal', about: ['Write about ', { channel: 'topic' }] }), team, polish],
    edges: ['draft>team', 'team>polish'],
  }),
  inputs: [{ channel: 'topic', name: 'topic', required: true }],
};

const ANSWERS = { draft: ['D'], ann: ['A'], bob: ['B'], all: ['AB'], text: ['one\ntwo', 'one\nthree'] };

/** Runs the tree with these answers of its agents; gives the events in short. */
async function eventsOf(answers: Record<string, readonly Said[]> = ANSWERS, more: object = {}, thePlan = tree) {
  const counts = new Map<string, number>();
  const said = (name: string) => (): Said => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const answer = answers[name]?.[count];
    if (answer === undefined) throw new Error(`${name} has no answer ${count}`);
    return answer;
  };
  const { models } = ownModels(Object.fromEntries(Object.keys(ANSWERS).map((name) => [name, said(name)])));
  const events: TreeEvent[] = [];
  const inputs = { topic: 'rain' };
  const listeners = [
    treeEvents(
      thePlan,
      () => inputs,
      (event) => events.push(event),
    ),
  ];
  const begun = 'resume' in more ? {} : { inputs };
  const result = await run({ plan: thePlan, bindings: {} }, { models, listeners, ...begun, ...more }).result;
  return { result, events };
}

function short({ name, level, runId: _run, at: _at, path: _path, ...rest }: TreeEvent): readonly unknown[] {
  const { spent: _spent, ...fields }: Record<string, unknown> = rest;
  return [name, level, fields];
}

describe('[E1] [addition 11] events of a tree', () => {
  it('tell of the workflow, its goals, their agents and the cap of a convergence, with level and fields', async () => {
    const { events, result } = await eventsOf();
    expect(result.outcome).toBe('succeeded');
    expect(events.map(short)).toEqual([
      ['workflow.started', 'info', { workflow: 'essay' }],
      ['goal.started', 'info', { goal: 'draft', description: 'Write about rain' }],
      ['goal.ended', 'info', { goal: 'draft', output: 'D' }],
      ['goal.started', 'info', { goal: 'team', description: 'Review D of rain' }],
      ['subagent.spawned', 'info', { goal: 'team', agent: 'ann' }],
      ['subagent.spawned', 'info', { goal: 'team', agent: 'Bob' }],
      ['subagent.completed', 'info', { goal: 'team', agent: 'ann', output: 'A' }],
      ['subagent.completed', 'info', { goal: 'team', agent: 'Bob', output: 'B' }],
      ['goal.ended', 'info', { goal: 'team', output: 'AB' }],
      ['goal.started', 'info', { goal: 'polish', description: '' }],
      ['loop.round', 'info', { goal: 'polish', round: 1, change: 1 }],
      ['loop.round', 'info', { goal: 'polish', round: 2, change: 0.5 }],
      ['convergence.cap_reached', 'warn', { convergence: 'polish', cap: 2, lastOutput: 'one\nthree' }],
      ['goal.ended', 'info', { goal: 'polish', output: 'one\nthree' }],
      ['workflow.ended', 'info', { workflow: 'essay' }],
    ]);
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([result.runId]));
    expect(events.map(({ path }) => path).filter((path) => path.includes('/'))).toContain('team/bob');
  });

  it('[E1] say for sinks what they are about, and texts by their length', async () => {
    const { events } = await eventsOf();
    const byName = Object.fromEntries(events.map((event) => [event.name, attributesOf(event)]));
    expect(byName).toMatchObject({
      'workflow.ended': { workflow: 'essay' },
      'goal.started': { goal: 'polish', description: '' },
      'goal.ended': { goal: 'polish', output_len: 9 },
      'subagent.completed': { goal: 'team', agent: 'Bob', output_len: 1 },
      'convergence.cap_reached': { convergence: 'polish', cap: 2 },
      'loop.round': { goal: 'polish', round: 2, change: 0.5 },
    });
  });

  it('[A24] a goal that fails does not end; its agent and the workflow carry the failure', async () => {
    // One after the other: what runs beside the agent that fails is cancelled, and says so.
    const { events } = await eventsOf({ ...ANSWERS, bob: [] }, { concurrency: 1 });
    const failed = events
      .filter(({ level }) => level === 'error')
      .map((event) => [event.name, 'failure' in event && event.failure?.code]);
    expect(failed).toEqual([
      ['subagent.completed', 'SKEIN_STEP_FAILED'],
      ['workflow.ended', 'SKEIN_STEP_FAILED'],
    ]);
    expect(events.filter(({ name }) => name === 'goal.ended').map((event) => 'goal' in event && event.goal)).toEqual([
      'draft',
    ]);
  });

  it('[decision 5] tell of an answer without its fields, by the goal around it', async () => {
    const nodes = tree.nodes.map((node) => (node.kind === 'agent' ? { ...node, fields: { title: 'title' } } : node));
    const { events } = await eventsOf({ ...ANSWERS, draft: ['D', 'D'] }, {}, { ...tree, nodes });
    expect(events.find(({ name }) => name === 'output.unparsed')).toMatchObject({ goal: 'draft', level: 'warn' });
  });

  it('[A14] a tree with problems has one event', () => {
    const failure = { code: 'SKEIN_DEFINITION', message: 'preflight: goal: name is required' } as const;
    const event = preflightFailed('essay', failure, 7);
    expect([short(event), attributesOf(event), event.at]).toEqual([
      ['preflight.failed', 'error', { workflow: 'essay', failure }],
      { workflow: 'essay' },
      7,
    ]);
  });
});

describe('[issue 14] a replay of a tree', () => {
  it('repeats no event, and tells what comes after it', async () => {
    const store = memoryStore();
    const first = await eventsOf({ ...ANSWERS, text: ['one\ntwo'] }, { store });
    expect(first.result.outcome).toBe('failed');
    const again = await eventsOf({ text: ['four', 'CONVERGED'] }, { store, resume: first.result.runId });
    expect(again.result.state['polish']).toBe('four');
    expect(again.events.map(short)).toEqual([
      ['loop.round', 'info', { goal: 'polish', round: 2, change: 1 }],
      ['convergence.cap_reached', 'warn', { convergence: 'polish', cap: 2, lastOutput: 'four' }],
      ['goal.ended', 'info', { goal: 'polish', output: 'four' }],
      ['workflow.ended', 'info', { workflow: 'essay' }],
    ]);
    const finished = await eventsOf({}, { store, resume: first.result.runId });
    expect([finished.result.outcome, finished.events]).toEqual(['succeeded', []]);
  });
});
