import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openPack } from 'skein/machine';
import { packOf } from '../support/talking.js';

type StepOfPack = Readonly<Record<string, unknown>>;

const NAMES = ['one', 'two', 'three', 'four'];
const TEXT = { type: 'object', properties: { it: { type: 'string' } } };

const call = (name: string, more: StepOfPack = {}): StepOfPack => ({ id: name, kind: 'tool', tool: name, ...more });
const together = (...branches: readonly StepOfPack[]): StepOfPack => {
  return { id: 'both', kind: 'parallel', branches, reduce: { strategy: 'append', into: 'all' } };
};

/** Runs a composition of these steps, whose tools have effects, give untrusted texts, and note when they begin and end. */
async function ran(...steps: readonly StepOfPack[]) {
  const states = { main: { orchestration: 'composition', composition: 'c', terminal: true } };
  const order: string[] = [];
  const implemented = (name: string) => async (): Promise<string> => {
    order.push(`${name}(`);
    await sleep(2);
    order.push(`)${name}`);
    return name;
  };
  const pack = packOf(states, {
    prompts: { p: { id: 'p', name: 'P', version: '1.0.0', system_template: 'You talk.' } },
    tools: Object.fromEntries(NAMES.map((name) => [name, { name, description: name, parameters: TEXT }])),
    compositions: { c: { version: 1, steps } },
  });
  const conversation = await openPack(pack, {
    tools: Object.fromEntries(NAMES.map((name) => [name, implemented(name)])),
    models: { env: {}, override: 'mock/echo' },
  });
  const { outcome, pauses } = await conversation.send('Begin.');
  return { outcome, pauses, order: order.join(' ') };
}

describe('steps with effects of a composition', () => {
  it('run one after the other, in the order of the file', async () => {
    expect(await ran(call('one'), call('two'))).toMatchObject({
      outcome: 'succeeded',
      order: 'one( )one two( )two',
    });
  });

  it('run at the same time in a parallel step, after those before it', async () => {
    const { outcome, order } = await ran(call('one'), together(call('two'), call('three')));
    expect([outcome, order]).toEqual(['succeeded', 'one( )one two( three( )two )three']);
  });

  it('come before a parallel step that waits for them, though they follow it in the file', async () => {
    const { order, pauses } = await ran(together(call('one'), call('two', { depends_on: ['four'] })), call('four'));
    expect(order).toBe('one( )one');
    // Whether a step inside a parallel step failed, may have been decided by its tool.
    expect(pauses[0]?.question).toContain('call four? Untrusted text influenced it');
  });
});

describe('a step with fixed arguments that waits for a tool', () => {
  it('is not influenced by what the tool gave', async () => {
    expect(await ran(call('one'), call('two', { depends_on: ['one'] }))).toMatchObject({
      outcome: 'succeeded',
      pauses: [],
      order: 'one( )one two( )two',
    });
  });

  it('is influenced where that decides whether it runs', async () => {
    const pairs: [string, unknown][] = [
      ['id', 'way'],
      ['kind', 'branch'],
      ['predicate', { path: '${one.output}', op: 'equals', value: 'one' }],
      ['then', 'two'],
    ];
    const branch = Object.fromEntries(pairs);
    const chosen = await ran(call('one'), branch, call('two', { depends_on: ['way'] }));
    expect([chosen.outcome, chosen.order]).toEqual(['paused', 'one( )one']);
    expect(chosen.pauses[0]?.question).toContain('Untrusted text influenced it');
  });
});
