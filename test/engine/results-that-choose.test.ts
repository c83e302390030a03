import { describe, expect, test } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import type { PlanInput } from '../../src/plan/builder-input.js';
import { goto } from '../../src/plan/goto.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const performed: string[] = [];

/** A first node with a route that its result decides, and three others. */
function parting(first: () => unknown, more: Partial<PlanInput['nodes'][number]> = {}, route: object = {}) {
  const leaf = (id: string) => ({
    id,
    output: id,
    run: () => {
      performed.push(id);
      return id.toUpperCase();
    },
  });
  return definePlan({
    name: 'parting',
    entry: 'first',
    nodes: [
      { id: 'first', run: first, ...more } as PlanInput['nodes'][number],
      leaf('left'),
      leaf('right'),
      leaf('rest'),
    ],
    routes: [{ from: 'first', choose: 'result', targets: ['left', 'right', 'rest'], ...route }],
  });
}

async function stateOf(workflow: ReturnType<typeof parting>) {
  const { outcome, state, error } = await run(workflow).result;
  return outcome === 'succeeded' ? state : error;
}

describe('E3: a result that says where to go on', () => {
  test('goes there, and what it leaves is merged first', async () => {
    expect(await stateOf(parting(() => goto('left', { n: 1 })))).toEqual({ n: 1, left: 'LEFT' });
    expect(await stateOf(parting(async () => goto('right')))).toEqual({ right: 'RIGHT' });
    expect(await stateOf(parting(() => goto(['left', 'rest'])))).toEqual({ left: 'LEFT', rest: 'REST' });
    expect(await stateOf(parting(() => goto('END', { n: 2 })))).toEqual({ n: 2 });
  });

  test('leaves a value where the node has an output', async () => {
    expect(await stateOf(parting(() => goto('left', 7), { output: 'n' }))).toEqual({ n: 7, left: 'LEFT' });
  });

  test('means what the map of the route says', async () => {
    const map = { yes: 'left', no: 'END' };
    expect(await stateOf(parting(() => goto('yes'), {}, { map }))).toEqual({ left: 'LEFT' });
    expect(await stateOf(parting(() => goto('no'), {}, { map }))).toEqual({});
    expect(await stateOf(parting(() => goto('left'), {}, { map }))).toMatchObject({
      code: 'SKEIN_BAD_ROUTE',
      message: "the route after 'first' answered 'left'",
      hint: 'it may answer yes, no',
    });
  });

  test('that is a plain value leaves the choice to the route: `otherwise`, or the end of the branch', async () => {
    expect(await stateOf(parting(() => ({ n: 1 }), {}, { otherwise: ['rest'] }))).toEqual({ n: 1, rest: 'REST' });
    expect(await stateOf(parting(() => ({ n: 1 })))).toEqual({ n: 1 });
    expect(await stateOf(parting(() => undefined))).toEqual({});
  });

  test('is not looked for in data: who builds an answer for a model can’t lead the run anywhere', async () => {
    const answer = JSON.parse('{ "goto": "left", "update": { "n": 1 } }') as object;
    expect(await stateOf(parting(() => answer))).toEqual({ goto: 'left', update: { n: 1 } });
    expect(await stateOf(parting(() => JSON.parse(JSON.stringify(goto('left', { n: 1 })))))).toEqual({
      goto: 'left',
      update: { n: 1 },
    });
  });

  test('without such a route fails the step, for nobody would follow it; also where it is recorded', async () => {
    const plain = definePlan({ name: 'plain', nodes: [{ id: 'a', run: () => goto('b', { n: 1 }) }] });
    const store = memoryStore();
    for (const options of [{}, { store, runId: 'r' }, { store, resume: 'r' }]) {
      const { outcome, error } = await run(plain, options).result;
      expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_BAD_UPDATE']);
    }
  });

  test.each([['nowhere'], [42], [null], [[['left']]]])('%j is no target: the step fails', async (target) => {
    const { outcome, error } = await run(parting(() => goto(target as string))).result;
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_BAD_ROUTE']);
  });

  test('an update that is none fails the step as ever', async () => {
    expect(await stateOf(parting(() => goto('left', 42)))).toMatchObject({ code: 'SKEIN_BAD_UPDATE' });
  });

  test('J3: its choice is recorded with the result, and taken from there', async () => {
    const store = memoryStore();
    let turns = 0;
    const workflow = parting(() => goto((turns += 1) === 1 ? 'left' : 'right', { turns }));
    await run(workflow, { store, runId: 'r' }).result;
    performed.length = 0;
    const { state, ran } = await run(workflow, { store, resume: 'r' }).result;
    expect([state, turns, ran, performed]).toEqual([{ turns: 1, left: 'LEFT' }, 1, 0, []]);
    const forked = await run(workflow, { store, fork: { run: 'r', forget: ['first'] } }).result;
    expect([forked.state, performed]).toEqual([{ turns: 2, right: 'RIGHT' }, ['right']]);
  });

  test('J2: a result that was recorded before it could choose is not taken for one that did', async () => {
    const store = memoryStore();
    const first = (): object => ({ update: { n: 1 }, goto: 'left' });
    const nodes = [
      { id: 'first', run: first },
      { id: 'left', output: 'left', run: () => 'LEFT' },
    ];
    const before = definePlan({ name: 'p', entry: 'first', nodes });
    const routes = [{ from: 'first', choose: 'result', targets: ['left'] }] as const;
    const after = definePlan({ name: 'p', entry: 'first', nodes, routes });
    await run(before, { store, runId: 'r' }).result;
    const { state, reused } = await run(after, { store, resume: 'r' }).result;
    expect([state, reused]).toEqual([{ update: { n: 1 }, goto: 'left' }, 0]);
  });

  test('the event of the step has the update and the targets, not the wrapping', async () => {
    const events: unknown[] = [];
    const listeners = [(event: object) => void events.push(event)];
    await run(
      parting(() => goto('left', { n: 1 })),
      { listeners },
    ).result;
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'step.ended', node: 'first', update: { n: 1 }, to: ['left'] }),
    );
  });
});
