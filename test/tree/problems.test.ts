import { describe, expect, it } from 'vitest';
import { agent, convergence, goal, sequence, state, workflow } from '../../src/tree.js';
import type { Problem } from '../../src/index.js';
import type { Override, Runtime, Step, Workflow } from '../../src/tree.js';
import { flowOf, talker } from './support.js';

function messages(flow: Pick<Workflow, 'validate'>): readonly string[] {
  return flow
    .validate()
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);
}

const CRITIC = agent('critic', 'You are a critic.');

const CATALOGUE: readonly (readonly [string, Pick<Workflow, 'validate'>])[] = [
  ['workflow: name is required', workflow(' ').add(sequence('main').steps(goal('a', 'Do.')))],
  ['workflow: at least one sequence is required', workflow('w')],
  ['workflow: parameter has empty name', flowOf(goal('a', 'Do.')).input(' ')],
  ['parameter p: declared more than once', flowOf(goal('a', 'Do.')).input('p', ' p ')],
  [
    'sequence s: declared more than once',
    workflow('w').add(sequence('s').steps(goal('a', 'Do.')), sequence('s').steps(goal('b', 'Do.'))),
  ],
  ['sequence: name is required', workflow('w').add(sequence('').steps(goal('a', 'Do.')))],
  ['sequence s: at least one step is required', workflow('w').add(sequence('s'))],
  ['goal: name is required', flowOf(goal('', 'Do.'))],
  ['goal g: description is required', flowOf(goal('g', ' \n'))],
  ['goal g: output has empty name', flowOf(goal('g', 'Do.').withOutputs('x', ' '))],
  ['convergence: name is required', flowOf(convergence('', 'Do.', 2))],
  ['convergence c: description is required', flowOf(convergence('c', '', 2))],
  ["convergence c: 'within' must be > 0", flowOf(convergence('c', 'Do.', 0))],
  ["convergence c: 'within' must be > 0", flowOf(convergence('c', 'Do.', Number.NaN))],
  [
    "convergence c: 'within' and 'withinVar' are mutually exclusive",
    flowOf(convergence('c', 'Do.', 2).withinVar('n')).input('n'),
  ],
  [
    'convergence c: withinVar "n" is not declared as a parameter or upstream output',
    flowOf(convergence('c', 'Do.', 0).withinVar('n')),
  ],
  ['agent: name is required', flowOf(agent('', 'You.').task('Do.'))],
  ['agent a: prompt is required', flowOf(agent('a', ' ').task('Do.'))],
  ['agent a: task is required (call .Task() before .Execute())', flowOf(agent('a', 'You.').task(' '))],
  ['agent critic: prompt is required', flowOf(goal('g', 'Do.').using(goal('h', 'Do.').using(agent('critic', ''))))],
  ['goal g: output "p" conflicts with parameter', flowOf(goal('g', 'Do.').withOutputs('p')).input('p')],
  ['goal g: output "h" conflicts with goal:h', flowOf(goal('g', 'Do.').withOutputs('h'), goal('h', 'Do.'))],
  [
    'convergence c: output "f" conflicts with goal:g',
    flowOf(goal('g', 'Do.').withOutputs('f'), convergence('c', 'Do.', 2).withOutputs('f')),
  ],
  ['goal g: output "f" conflicts with goal:g', flowOf(goal('g', 'Do.').withOutputs('f', 'f'))],
  ['goal g: the name is taken by another goal', flowOf(goal('g', 'Do.'), goal('g', 'Do something else.'))],
  [
    'goal g: two different steps inside of it are named critic',
    flowOf(goal('g', 'Do.').using(CRITIC, agent('critic', 'You are another.'))),
  ],
  ['goal g: $v is not declared as a parameter or upstream output', flowOf(goal('g', 'Do $v.'))],
  ['convergence c: $v is not declared as a parameter or upstream output', flowOf(convergence('c', 'Do $v.', 2))],
  [
    'agent a prompt: $v is not declared as a parameter or upstream output',
    flowOf(goal('g', 'Do.').using(agent('a', 'You know $v.'))),
  ],
  ['agent a task: $v is not declared as a parameter or upstream output', flowOf(agent('a', 'You.').task('Do $v.'))],
  [
    'workflow: security.Research requires a non-empty scope (set via .Scope)',
    flowOf(goal('g', 'Do.')).security('research').scope(' '),
  ],
];

describe('what is wrong with a tree', () => {
  it.each(CATALOGUE)('[A42] %s', (message, flow) => {
    expect(messages(flow)).toContain(message);
  });

  it('[A16] is told all at once, in one error before anything runs', async () => {
    const talk = talker();
    const flow = workflow('').add(
      sequence('s').steps(
        goal('g', '').using(agent('a', '')),
        convergence('c', 'See $later.', -1),
        goal('later', 'Do.'),
      ),
      sequence('s'),
    );
    const error: unknown = await flow.execute(talk.runtime, {}, talk.options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'SKEIN_DEFINITION' });
    for (const part of [
      'workflow: name is required',
      'goal g: description is required',
      'agent a: prompt is required',
      "convergence c: 'within' must be > 0",
      'convergence c: $later is not declared as a parameter or upstream output',
      'sequence s: declared more than once',
      'sequence s: at least one step is required',
    ])
      expect((error as Error).message).toContain(part);
    expect((error as { details: { problems: unknown[] } }).details.problems).toHaveLength(7);
    expect(talk.requests).toEqual([]);
  });

  it('[A14] an error says that nothing has run: preflight', async () => {
    const talk = talker();
    await expect(flowOf(goal('g', '')).execute(talk.runtime, {}, talk.options)).rejects.toThrow(/^preflight: /);
  });

  it('[A16] validate says that a model is missing, as sure as it can be without a look at a local Ollama', () => {
    const flow = flowOf(goal('g', 'Do.'));
    const told = (env: Record<string, string>, runtime: Runtime = {}, of = flow): readonly string[] =>
      of.validate(runtime, { models: { env } }).map(({ severity, message }) => `${severity}: ${message}`);
    const message = 'workflow: Runtime.Model is required (no model is configured: no key is set)';
    expect(told({ SKEIN_NO_PROBE: '1' })).toEqual([`error: ${message}`]);
    expect(told({})).toEqual([`warning: ${message}`]);
    expect(told({ SKEIN_NO_PROBE: '1' }, {}, flowOf(goal('g', '')))).toContain(`error: ${message}`);
    for (const [env, runtime] of [
      [{ SKEIN_MODEL: 'mock/echo' }, {}],
      [{ OPENAI_API_KEY: 'k' }, {}],
      [{ SKEIN_NO_PROBE: '1' }, { model: 'mock/echo' }],
    ] as const)
      expect(told(env, runtime)).toEqual([]);
    const own = flowOf(goal('g', 'Do.').customize({ model: 'mock/echo' }));
    expect(own.validate({}, { models: { env: { SKEIN_NO_PROBE: '1' } } })).toEqual([]);
    expect(flow.validate({}, { models: { env: { SKEIN_NO_PROBE: '1' }, mock: true } })).toEqual([]);
    expect(flow.validate()).toEqual([]);
  });

  it('[A16] each step checks itself when it is run alone', async () => {
    const talk = talker();
    const steps: readonly (readonly [Step, string])[] = [
      [goal('g', ''), 'goal g: description is required'],
      [convergence('c', 'Do $x.', 2), 'convergence c: $x is not declared'],
      [agent('a', 'You.'), 'agent a: task is required'],
    ];
    for (const [step, message] of steps)
      await expect(step.execute(talk.runtime, state({ y: '1' }), talk.options)).rejects.toThrow(message);
    expect(talk.requests).toEqual([]);
  });

  it('[addition 5] a goal may have the name of a parameter, with a warning', () => {
    const found = flowOf(goal('topic', 'Sharpen $topic.')).input('topic').validate();
    expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['warning shadowed-input']);
  });

  it('[A11] [addition 5] a reference to what has not run yet is a problem, one to an earlier goal or field is not', () => {
    const late = flowOf(goal('a', 'See $b and $f.'), goal('b', 'Do.').withOutputs('f'));
    expect(messages(late)).toHaveLength(2);
    expect(late.validate()[0]?.hint).toBe('b is given by this step or a later one');
    expect(messages(flowOf(goal('b', 'Do.').withOutputs('f'), goal('a', 'See $b and $f.')))).toEqual([]);
  });

  it('a step is as careful as what is around it, or more', () => {
    const careful = goal('g', 'Do.').using(agent('a', 'You.').security('paranoid')).security('research').scope('x');
    expect(flowOf(careful).security('default').validate()).toEqual([]);
    const found = flowOf(
      goal('g', 'Do.').using(agent('a', 'You.').security('default')).security('paranoid'),
    ).validate();
    expect(found).toMatchObject([
      {
        code: 'lowered-security',
        message: 'agent a: it has the security default where paranoid holds',
        path: 'sequences[0].steps[0].using[0]',
      },
    ]);
    const wide = workflow('w').add(sequence('s').security('paranoid').steps(goal('g', 'Do.').security('default')));
    expect(wide.validate().map(({ code }) => code)).toEqual(['lowered-security']);
    expect(
      flowOf(goal('g', 'Do.').security('research'))
        .validate()
        .map(({ code }) => code),
    ).toEqual(['no-scope']);
  });

  it("[A4] what can't stand somewhere is refused at once", () => {
    const steps = sequence('s').steps.bind(sequence('s')) as (...steps: unknown[]) => unknown;
    expect(() => steps(sequence('inner'))).toThrow(/steps takes goal, convergence, agent, not a sequence/);
    expect(() => steps({ kind: 'goal' })).toThrow(/not something that is not part of a tree|something that is not/);
  });
});

describe('a tool that does not exist', () => {
  const told = [
    'warning: agent critic: Skein has no tool for "raed_file"; the agent runs without it (did you mean "read_file"?)',
  ];
  const brief = (problems: readonly Problem[]): readonly string[] =>
    problems
      .filter(({ code }) => code === 'unknown-tools')
      .map(({ severity, message, hint }) => `${severity}: ${message} (${hint ?? ''})`);

  it.each<readonly [string, Override | undefined, Runtime]>([
    ['of a step', { tools: ['raed_file'] }, {}],
    ['of the runtime', undefined, { tools: ['read', 'raed_file'] }],
    ['beside a server that is there', { tools: ['own/one', 'raed_file'] }, { mcp: { own: { command: 'own' } } }],
  ])('%s is told before anything runs, and by the result', async (_, override, runtime) => {
    const step = agent('critic', 'You look.');
    const flow = flowOf(goal('g', 'Do.').using(override === undefined ? step : step.customize(override)));
    expect(brief(flow.validate(runtime))).toEqual(told);
    expect(brief(flow.validate())).toEqual([]);
    expect(brief(flow.compile(runtime).problems)).toEqual(told);
    const talk = talker();
    const { warnings } = await flow.execute({ ...runtime, mcp: {}, ...talk.runtime }, {}, talk.options);
    expect(brief(warnings)).toHaveLength(1);
  });
});

describe('the parameters of a tree', () => {
  const flow = flowOf(goal('g', 'Write $topic in $style.')).input('topic', { name: 'style', default: '' });

  it('[A6] a given value wins, also the empty text; a default may be empty; what is not declared is dropped', async () => {
    const talk = talker();
    const { inputs } = await flow.execute(talk.runtime, { topic: '', other: 'x' }, talk.options);
    expect(inputs).toEqual({ topic: '', style: '' });
    expect(talk.prompts()['g']).toContain('Write  in .');
  });

  it('[A7] what is missing or declared twice is an error of its own, before the tree is checked', async () => {
    const talk = talker();
    await expect(flow.execute(talk.runtime, {}, talk.options)).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
      message: 'required parameter missing: topic',
    });
    const twice = flowOf(goal('g', '')).input('a', 'a');
    await expect(twice.execute(talk.runtime, { a: '1' }, talk.options)).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
      message: 'duplicate parameter declaration: a',
    });
  });
});

it('[A31] a number of rounds that nothing declares is not taken for a text', () => {
  expect(flowOf(convergence('c', 'Do.', 0).withinVar('n')).validate()).toMatchObject([
    { code: 'unknown-reference', hint: 'declare it as a parameter, or give the number of rounds itself' },
  ]);
});
