import { describe, expect, it } from 'vitest';
import { answerRun, checkPlan, definePlan, memoryStore, SkeinError } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { Guide, GuideOf, GuideStep, ToolDefinition } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';
import type { Said } from './support-agents.js';

/** Moves between rooms by a tool; the door to the cellar is locked. What it did is written. */
function walk({ state }: GuideStep): Guide {
  const moves: string[] = [];
  const { steps = 0 } = state as { steps?: number };
  return {
    tools: [
      {
        name: 'go',
        description: 'Go to another room.',
        inputSchema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
        run({ room }) {
          const where = room as string;
          if (where === 'cellar') throw new SkeinError('SKEIN_TOOL_REFUSED', 'the cellar is locked');
          moves.push(where);
          return `on the way to the ${where}`;
        },
      },
    ],
    isOver: () => moves.length > 0,
    end: ({ rounds, toolCalls, text }) => ({
      ...(moves[0] === undefined ? {} : { goto: moves[0] }),
      writes: { steps: steps + moves.length, seen: [{ rounds, toolCalls, text, moves: [...moves] }] },
    }),
  };
}

interface House {
  readonly turns: readonly Said[];
  readonly choice?: GuideOf;
  readonly tools?: readonly ToolDefinition[];
  readonly approve?: readonly string[];
}

interface HouseState {
  task: string;
  steps?: number;
  seen?: readonly object[];
}

function house({ turns, choice = walk, tools = [], approve = [] }: House) {
  const { models, requests } = ownModels({ m: ({ caller }) => turns[caller.turn - 1] ?? 'too many turns' });
  const flow = graph<HouseState>({ reducers: { seen: 'extend' } })
    .node('hall', agentNode(agent({ name: 'hall', model: 'own/m', tools, approve }), { choice }), {
      goto: ['kitchen', 'attic'],
    })
    .node('kitchen', ({ hall }) => `kitchen: ${hall}`)
    .node('attic', ({ hall }) => `attic: ${hall}`)
    .setEntry('hall');
  return { flow, models, requests };
}

const go = (room: string, text = ''): Said => ({ text, calls: [['go', { room }]] });
const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });

describe('an agent that is guided by code', () => {
  it('has the tools of its guide, goes where the guide says, and writes what the guide says', async () => {
    const { flow, models, requests } = house({ turns: [go('kitchen', 'Hungry.')] });
    const { outcome, state } = await flow.run({ task: 'x', steps: 4 }, { models });
    expect([outcome, state.kitchen, state.attic, state.steps]).toEqual(['succeeded', 'kitchen: Hungry.', undefined, 5]);
    expect(state.seen).toEqual([{ rounds: 1, toolCalls: 1, text: 'Hungry.', moves: ['kitchen'] }]);
    expect(requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['go']]);
  });

  it('ends its branch where the guide names no node', async () => {
    const { flow, models } = house({ turns: ['I stay here.'] });
    const { outcome, state } = await flow.run({ task: 'x' }, { models });
    expect([outcome, state.hall, state.kitchen]).toEqual(['succeeded', 'I stay here.', undefined]);
    expect(state.seen).toEqual([{ rounds: 1, toolCalls: 0, text: 'I stay here.', moves: [] }]);
  });

  it('is told what a tool of its guide throws, and what is wrong with its input', async () => {
    const turns: Said[] = [go('cellar'), { calls: [['go', { room: 7 }]] }, go('attic')];
    const { flow, models, requests } = house({ turns });
    const { state } = await flow.run({ task: 'x' }, { models });
    expect(state.attic).toBe('attic: ');
    const [locked, wrong] = resultsIn(requests[2] as never);
    expect(locked).toBe('Error: the cellar is locked');
    expect(wrong).toMatch(/^Error: .*room/);
  });

  it('ends after the other calls of the round, whatever their order', async () => {
    const turns: Said[] = [
      {
        calls: [
          ['go', { room: 'attic' }],
          ['look', {}],
        ],
      },
    ];
    const { flow, models, requests } = house({ turns, tools: [look] });
    const { state } = await flow.run({ task: 'x' }, { models });
    expect([state.attic, requests.length]).toEqual(['attic: ', 1]);
    expect(state.seen).toMatchObject([{ toolCalls: 2 }]);
  });

  it('waits with everything while another call of the round waits for a person', async () => {
    const turns: Said[] = [
      {
        calls: [
          ['go', { room: 'attic' }],
          ['look', {}],
        ],
      },
    ];
    const store = memoryStore();
    const { flow, models, requests } = house({ turns, tools: [look], approve: ['look'] });
    const first = await flow.run({ task: 'x' }, { models, store });
    expect([first.outcome, first.state.attic, first.state.seen]).toEqual(['paused', undefined, undefined]);
    answerRun(store, first.runId, { value: 'allow' });
    const second = await flow.run({}, { models, store, resume: first.runId });
    expect([second.outcome, second.state.attic, requests.length]).toEqual(['succeeded', 'attic: ', 1]);
  });

  it('fails when its guide leads to a node that is not declared, or is no guide', async () => {
    const lost = house({ turns: [go('garden')] });
    expect((await lost.flow.run({ task: 'x' }, { models: lost.models })).error).toMatchObject({
      code: 'SKEIN_BAD_ROUTE',
    });
    const none = house({ turns: ['x'], choice: (() => undefined) as never });
    const { error } = await none.flow.run({ task: 'x' }, { models: none.models });
    expect(error?.message).toBe("the choice of 'hall' did not give a guide");
    expect(none.requests).toEqual([]);
  });

  it('fails when a tool of its guide is named like one of its own: the model could not tell them apart', async () => {
    const own = tool({ name: 'go', inputSchema: { type: 'object' }, execute: () => 'x' });
    const { flow, models, requests } = house({ turns: ['x'], tools: [own] });
    const { error } = await flow.run({ task: 'x' }, { models });
    expect([error?.message, requests.length]).toEqual(['\'hall\' has two tools named "go"', 0]);
  });
});

describe('a recorded run with a guided agent', () => {
  it('continues after any crash to the same end, at the same time of its guide, and pays no model call twice', async () => {
    const timed: GuideOf = (step) => {
      const guide = walk(step);
      const begun = step.now();
      return {
        ...guide,
        end(all) {
          const { goto, writes } = guide.end(all);
          return { ...(goto === undefined ? {} : { goto }), writes: { ...writes, took: step.now() - begun } };
        },
      };
    };
    const turns = [go('cellar'), { calls: [['look', {}]] as const }, go('attic', 'Up.')];
    const store = memoryStore();
    const { flow, models } = house({ turns, tools: [look], choice: timed });
    const { runId, state } = await flow.run({ task: 'x' }, { models, store });
    for (const { batches, lines } of prefixesOf(runId, store.read(runId))) {
      const paid = lines.filter((line) => line.includes('"t":"done"') && line.includes('"hall@model#')).length;
      const again = house({ turns, tools: [look], choice: timed });
      const left: Store = storeWith(runId, batches, store);
      const result = await again.flow.run({}, { models: again.models, store: left, resume: runId });
      const { took: _took, ...same } = state as HouseState & { took?: number };
      expect([result.outcome, result.state]).toMatchObject(['succeeded', same]);
      expect(again.requests).toHaveLength(turns.length - paid);
      if (paid === turns.length) expect(result.state).toEqual(state);
    }
  });
});

describe('the choice of an agent in a plan', () => {
  const NODE = { id: 'triage', kind: 'agent', agent: { models: ['own/m'] }, prompt: 'Hi.', output: 'said' } as const;
  const problems = (node: object, route: object | undefined, bound = true) => {
    const { plan, bindings } = definePlan({
      name: 'p',
      nodes: [
        { ...NODE, choice: walk, ...node },
        { id: 'desk', run: () => ({}) },
      ],
      edges: route === undefined ? [['triage', 'desk']] : [],
      routes: route === undefined ? [] : [{ from: 'triage', choose: 'result', ...route }],
    });
    return checkPlan(plan, bound ? bindings : {}).map(({ code, message }) => `${code}: ${message}`);
  };

  it('is data: the function is a binding of its own', () => {
    const { plan, bindings } = definePlan({ name: 'p', nodes: [{ ...NODE, choice: walk }] });
    expect([plan.nodes[0], bindings['choice:triage']]).toMatchObject([{ choice: 'code' }, walk]);
  });

  it.each([
    ['its route declares no targets', {}, {}, 'bad-choice: the choice of "triage" may lead anywhere'],
    ['it has no route', {}, undefined, 'bad-choice: the choice of "triage" leads nowhere'],
    [
      'its answers have a schema',
      { agent: { output: { schema: {} } } },
      { targets: ['desk'] },
      'bad-choice: the choice of "triage" ends its step at a call, so that there is no answer with a schema',
    ],
  ])('is a problem when %s', (_, node, route, problem) => {
    expect(problems(node, route)).toContain(problem);
  });

  it('is a problem without a function', () => {
    expect(problems({}, { targets: ['desk'] })).toEqual([]);
    expect(problems({}, { targets: ['desk'] }, false)).toContain(
      'missing-binding: the choice of "triage" has no function',
    );
  });
});
