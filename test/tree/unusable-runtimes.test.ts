import { describe, expect, it } from 'vitest';
import { agent, convergence, goal, sequence, state, workflow } from '../../src/tree.js';
import type { Runtime } from '../../src/tree.js';
import { flowOf, talker } from './support.js';

/** Settings as a program in JavaScript may give them. */
const UNUSABLE: readonly (readonly [unknown, string, string | undefined])[] = [
  [{ model: 'own/m', polcy: { deny: ['shell'] } }, 'a runtime has no option "polcy"', 'did you mean "policy"?'],
  [{ modell: 'own/m' }, 'a runtime has no option "modell"', 'did you mean "model"?'],
  [{ model: 'own/m', tools: 'read_file' }, 'tools are a list of names and functions, not a text', undefined],
  [
    { supervisor: { reconcile: () => undefined } },
    'the supervisor of a runtime needs the methods reconcile and supervise, and a timeoutMs above 0 or none',
    "supervisor: supervisor({ model: 'openai/gpt-5' })",
  ],
  [null, 'a runtime is an object, not null', undefined],
  ['own/m', 'a runtime is an object, not a text', undefined],
];

describe('a runtime that can not be used', () => {
  it.each(UNUSABLE)('%j runs nothing', async (given, message, hint) => {
    const { options, requests } = talker();
    const runtime = given as Runtime;
    const error: unknown = expect.objectContaining({
      code: 'SKEIN_USAGE',
      message,
      ...(hint === undefined ? {} : { hint }),
    });
    const step = goal('g', 'Do.');
    await expect(flowOf(step).execute(runtime, {}, options)).rejects.toEqual(error);
    await expect(step.execute(runtime, state(), options)).rejects.toEqual(error);
    expect(requests).toEqual([]);
  });

  it.each(UNUSABLE)('%j is a problem of who checks', (given, message) => {
    const runtime = given as Runtime;
    const problem: unknown = expect.objectContaining({ code: 'bad-runtime', severity: 'error', message });
    const flow = flowOf(goal('g', 'Do.'));
    expect(flow.validate(runtime)).toEqual([problem]);
    expect(goal('g', 'Do.').validate(runtime)).toEqual([problem]);
    expect(flow.compile(runtime)).toMatchObject({ plan: undefined, problems: [problem] });
  });

  it('is refused where none is given at all', async () => {
    const flow = flowOf(goal('g', 'Do.'));
    const execute = flow.execute.bind(flow) as () => Promise<unknown>;
    await expect(execute()).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
  });
});

it.each(['runtime', 'customize'])('a misspelt rule for calls is a problem: in %s', (where) => {
  const policy = { denny: ['shell'] } as never;
  const step = where === 'runtime' ? goal('g', 'Do.') : goal('g', 'Do.').customize({ policy });
  const runtime: Runtime = { model: 'own/m', ...(where === 'runtime' ? { policy } : {}) };
  expect(flowOf(step).validate(runtime)).toMatchObject([
    { code: 'bad-plan', message: 'nodes[0].agent.permissions has no option "denny"', hint: 'did you mean "deny"?' },
  ]);
});

it('[A41] tools of a step that are no list are refused', () => {
  const tools = 'read_file' as never;
  expect(() => goal('g', 'Do.').customize({ tools })).toThrow('tools are a list');
});

it.each([
  ['the description of a goal is a text, not undefined', () => goal('g', undefined as never)],
  ['the name of a goal is a text, not a number', () => goal(5 as never, 'Do.')],
  ['the description of a convergence is a text, not null', () => convergence('c', null as never, 2)],
  ['the prompt of an agent is a text, not a list', () => agent('a', [] as never)],
  ['the name of a sequence is a text, not undefined', () => sequence(undefined as never)],
  ['the name of a workflow is a text, not an object', () => workflow({} as never)],
])('%s', (message, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'SKEIN_USAGE', message }));
});

it('what is not a state of a step is refused, and none is an empty one', async () => {
  const step = goal('g', 'Write about $topic.');
  const wrong = { topic: 'looms' } as never;
  const message = 'the state has no inputs, outputs and failures';
  await expect(step.execute({ model: 'mock/echo' }, wrong)).rejects.toMatchObject({
    code: 'SKEIN_USAGE',
    message,
    hint: expect.stringContaining("state({ topic: 'looms' })") as string,
  });
  expect(step.validate({}, wrong)).toEqual([expect.objectContaining({ code: 'bad-runtime', message })]);
  expect((await goal('g', 'Do.').execute({ model: 'mock/echo' })).outputs).toHaveProperty('g');
});
