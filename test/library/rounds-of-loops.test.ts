import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, readMoments, readRun, run } from 'skein';
import type { SkeinEvent } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from '../graph/support-agents.js';
import type { Said } from '../graph/support-agents.js';

const check = tool({
  name: 'check',
  inputSchema: { type: 'object' },
  effect: 'read',
  execute: () => 'fine\nCONVERGED\n',
});
const writer = agent({ name: 'writer', model: 'own/m', tools: [check], instructions: 'Write.' });

/** A round: an agent that may call a tool that says the word. */
const round = graph<{ text: string }>({ name: 'round' })
  .node('ask', () => 'Write it.')
  .node('text', agentNode(writer, { taskParam: 'ask' }))
  .compile();

const refine = {
  id: 'refine',
  kind: 'loop',
  plan: round,
  inputs: {},
  output: 'text',
  until: { op: 'line', value: { channel: 'text' }, line: 'CONVERGED' },
  keep: 'before',
  maxRounds: 5,
} as const;

const refined = definePlan({ name: 'refined', nodes: [refine] });

/** Answers by round of the loop and turn of the agent. */
function answering(rounds: readonly (readonly Said[])[]) {
  return ownModels({
    m: ({ caller }) => {
      const number = Number(/refine#(\d+)/.exec(caller.path)?.[1]);
      return rounds[number - 1]?.[caller.turn - 1] ?? `nobody planned ${caller.path}, turn ${caller.turn}`;
    },
  });
}

/** The notes of loops among events: `PATH ROUND CHANGE`, or `PATH ROUND KIND`. */
function roundsIn(events: readonly SkeinEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'step.note' || !event.note.kind.startsWith('loop.')) return [];
    const { kind, round: number, change = kind } = event.note as { kind: string; round: number; change?: number };
    return [`${event.path} ${number} ${change}`];
  });
}

async function told(
  definition: ReturnType<typeof definePlan>,
  rounds: readonly (readonly Said[])[],
  options: object = {},
) {
  const events: SkeinEvent[] = [];
  const { models, requests } = answering(rounds);
  const listeners = [(event: SkeinEvent) => void events.push(event)];
  const result = await run(definition, { models, listeners, ...options }).result;
  return { ...result, events, calls: requests.length };
}

describe('[decision 4] the end of a loop of agents', () => {
  it('[bad input] is neither in the result of a tool nor in what is said beside its call', async () => {
    const beside: Said = { text: 'CONVERGED', calls: [['check', {}]] };
    const { outcome, state, calls } = await told(refined, [[beside, 'one'], [beside, 'two'], ['CONVERGED']]);
    expect([outcome, state['text'], calls]).toEqual(['succeeded', 'two', 5]);
  });
});

const ROUNDS = [['a\nb'], ['a\nc'], ['a\nc'], ['CONVERGED']];
const TOLD = ['refine 1 1', 'refine 2 0.5', 'refine 3 0', 'refine 3 loop.repeated', 'refine 4 0'];

describe('[issue 14] the rounds of a recorded loop', () => {
  it('are told once each, wherever the process dies, and only what is new is not marked as repeated', async () => {
    const store = memoryStore();
    const first = await told(refined, ROUNDS, { store });
    expect([first.state['text'], roundsIn(first.events)]).toEqual(['a\nc', TOLD]);
    for (const { name, batches } of prefixesOf(first.runId, store.read(first.runId))) {
      const left = storeWith(first.runId, batches, store);
      const again = await told(refined, ROUNDS, { store: left, resume: first.runId });
      expect([name, again.outcome, again.state['text'], roundsIn(again.events)]).toEqual([
        name,
        'succeeded',
        'a\nc',
        TOLD,
      ]);
      const isNew = roundsIn(again.events.filter(({ replayed }) => replayed !== true));
      expect(isNew).toEqual(TOLD.slice(TOLD.length - isNew.length));
      const lines = readMoments(left, first.runId).filter(({ path }) => path === 'refine');
      expect(lines.map(({ text }) => text)).toEqual([
        'round 1: 100% of its lines are new',
        'round 2: 50% of its lines are new',
        'round 3: 0% of its lines are new',
        'round 3 gives the text of round 2',
        'round 4: 0% of its lines are new',
      ]);
    }
  });

  it('that repeat are warnings of the run', async () => {
    const store = memoryStore();
    const { runId } = await told(refined, ROUNDS, { store });
    expect(readRun(store, runId)?.warnings).toMatchObject([
      { path: 'refine', code: 'loop.repeated', message: 'round 3 gives the text of round 2' },
    ]);
  });

  it('are told inside of a map, of a called workflow and after a failed attempt', async () => {
    const item = definePlan({ name: 'item', inputs: ['item'], nodes: [refine] });
    const again = {
      ...refine,
      maxRounds: 2,
      retry: { retries: 1, delayMs: 0, on: 'any' },
      onError: 'continue',
    } as const;
    const whole = definePlan({
      name: 'whole',
      inputs: ['list'],
      nodes: [
        {
          id: 'all',
          kind: 'map',
          plan: item,
          over: { channel: 'list' },
          item: 'item',
          result: 'text',
          maxItems: 2,
          output: 'texts',
        },
        { id: 'one', kind: 'call', plan: refined, outputs: { text: 'text' } },
        again,
      ],
      edges: [['all', 'one', 'refine']],
    });
    const { events, state } = await told(whole, [['a'], ['b'], ['CONVERGED']], { inputs: { list: [1] } });
    expect([state['texts'], state['text']]).toEqual([['b'], 'b']);
    const twice = ['refine 1 1', 'refine 2 1'];
    expect(roundsIn(events)).toEqual([
      ...['1 1', '2 1', '3 0'].map((each) => `all[0]/refine ${each}`),
      ...['1 1', '2 1', '3 0'].map((each) => `one/refine ${each}`),
      ...twice,
      ...twice,
    ]);
  });
});
