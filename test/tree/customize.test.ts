import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import { tool } from '../../src/graph.js';
import { agent, goal, sequence, workflow } from '../../src/tree.js';
import type { Override, Runtime } from '../../src/tree.js';
import { flowOf, ran, talker } from './support.js';

function echo(id: string): Model {
  return {
    id,
    async *stream() {
      yield { type: 'text', text: `by ${id}` };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      await Promise.resolve();
    },
  };
}

const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });
const find = tool({ name: 'find', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'found' });

describe('what is customized', () => {
  it('[A41] contexts add up over runtime, sequence, goal and agent; all else replaces', async () => {
    const talk = talker();
    const runtime: Runtime = { ...talk.runtime, tools: [look], systemContext: 'L0' };
    const inner = agent('inner', 'You.').customize({ systemContext: 'L3' });
    const flow = workflow('flow').add(
      sequence('main')
        .customize({ systemContext: 'L1', tools: [look, find] })
        .steps(
          goal('g', 'Do.')
            .customize({ systemContext: 'L2', tools: ['read_file', find] })
            .using(inner),
          goal('plain', 'Do.'),
          goal('bare', 'Do.').customize({ tools: [] }),
        ),
    );
    await flow.execute(runtime, {}, talk.options);
    const systems = talk.systems();
    expect(systems['g/inner']).toBe('You.\n\nL0\n\nL1\n\nL2\n\nL3');
    expect(systems['plain']).toBe('You are a helpful assistant executing a goal.\n\nL0\n\nL1');
    const tools = Object.fromEntries(
      talk.requests.map(({ caller, tools: specs }) => [caller.path, specs.map(({ name }) => name).toSorted()]),
    );
    expect(tools).toEqual({ 'g/inner': ['find', 'read_file'], plain: ['find', 'look'], bare: [] });
  });

  it('[A15] [A5] the runtime is read and never changed; a second override replaces the first', async () => {
    const runtime = Object.freeze({ model: echo('my/first'), systemContext: 'L0' });
    const step = goal('g', 'Do.').customize({ model: 'my/none' }).customize({ systemContext: 'L1' });
    const { outputs } = await flowOf(step).execute(runtime);
    expect(outputs).toEqual({ g: 'by my/first' });
  });

  it('[addition 4] model objects are used where they are given, and named after what they say of themselves', async () => {
    const [light, heavy] = [echo('anthropic/light'), echo('my/heavy')];
    const flow = flowOf(
      goal('one', 'Do.'),
      goal('two', 'Do.')
        .customize({ model: heavy })
        .using(agent('a', 'You.'), agent('b', 'You.').customize({ model: light })),
    );
    const { outputs } = await flow.execute({ model: light });
    expect(outputs).toEqual({
      one: 'by anthropic/light',
      two: 'by my/heavy',
      'two.a': 'by my/heavy',
      'two.b': 'by anthropic/light',
    });
    const twice = flowOf(goal('g', 'Do.').customize({ model: echo('my/heavy') }));
    await expect(twice.execute({ model: heavy })).rejects.toThrow('two different model objects are named my/heavy');
    expect(() => goal('g', 'Do.').customize({ model: {} as never })).toThrow('this is not a model');
  });

  it('[A16] a model is needed somewhere: in the runtime, in the steps, or in the environment', async () => {
    const options = { models: { env: {}, noProbe: true } };
    const missing = flowOf(goal('g', ''));
    const error: unknown = await missing.execute({}, {}, options).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain('workflow: Runtime.Model is required');
    expect((error as Error).message).toContain('goal g: description is required');
    const own = flowOf(goal('g', 'Do.').customize({ model: echo('my/own') }));
    expect((await own.execute({}, {}, options)).outputs).toEqual({ g: 'by my/own' });
    const named = { models: { env: { SKEIN_MODEL: 'mock/echo' }, noProbe: true } };
    expect((await flowOf(goal('g', 'Do.')).execute({}, {}, named)).outcome).toBe('succeeded');
  });

  it('[A19] [A36] [A37] [decision 6] the error of a tool goes back to the model', async () => {
    const broken = tool({
      name: 'broken',
      inputSchema: { type: 'object' },
      effect: 'read',
      execute() {
        throw new Error('it is broken');
      },
    });
    const { outputs } = await ran(flowOf(goal('g', 'Do.').customize({ tools: [broken] })), ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'tool' ? `told: ${last.results[0]?.output}` : { calls: [['broken', {}]] };
    });
    expect(outputs['g']).toContain('it is broken');
  });

  it('[A38] a policy is enforced: what it denies does not happen', async () => {
    let calls = 0;
    const write = tool({ name: 'write', inputSchema: { type: 'object' }, execute: () => (calls += 1) });
    const policy: Override = { tools: [write], policy: { deny: ['write'] } };
    const { outcome } = await ran(flowOf(goal('g', 'Do.').customize(policy)), ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'refused' : { calls: [['write', {}]] },
    );
    expect([outcome, calls]).toEqual(['succeeded', 0]);
  });

  it('an option that does not exist is refused', () => {
    expect(() => goal('g', 'Do.').customize({ modle: 'own/m' } as never)).toThrow('customize has no option "modle"');
  });
});
