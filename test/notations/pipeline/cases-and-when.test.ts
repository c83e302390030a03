import { describe, expect, it } from 'vitest';
import { agents, brief, loadText, runPipeline, schema } from './run-pipeline.js';
import type { Ran } from './run-pipeline.js';

const NAMES = agents(['router', schema('class')], 'a', 'b', 'c');

const CASES = `${NAMES}workflow:
  - { id: route, type: agent, name: router }
  - type: condition
    id: by
    cases:
      - { when: '{{ $steps.route.output.class == "install" }}', steps: [{ id: install, type: agent, name: a }] }
      - { when: '{{ $steps.route.output.class == "bug" }}', goto: triage }
      - { when: "{{ $steps.route.output.class.startsWith('i') }}", steps: [{ id: idea, type: agent, name: c }] }
    ELSE
  - { id: answer, type: agent, name: b }
  - { id: triage, type: agent, name: b }
`;
const withElse = CASES.replace('ELSE', 'else: [{ id: other, type: agent, name: c }]');
const withoutElse = CASES.replace('    ELSE\n', '');

const asked = ({ asked: all }: Ran): string => all.map(({ step }) => step).join(' ');
const taking = async (text: string, name: string): Promise<string> =>
  asked(await runPipeline(text, (step) => (step === 'route' ? JSON.stringify({ class: name }) : 'text')));

describe('[addition 5] [G6] cases of a condition', () => {
  it.each([
    ['install', 'route install answer triage'],
    ['bug', 'route triage'],
    ['idea', 'route idea answer triage'],
    ['praise', 'route other answer triage'],
  ])('the first case that holds is taken: %s', async (name, steps) => {
    expect(await taking(withElse, name)).toBe(steps);
  });

  it('without else none may be taken', async () => {
    expect(await taking(withoutElse, 'praise')).toBe('route answer triage');
  });

  it('are the cases of one route of the plan', async () => {
    const { plan } = await loadText(withElse);
    expect(plan?.routes.map(({ from, cases = [], otherwise }) => [from, cases.map(({ to }) => to), otherwise])).toEqual(
      [['by', [['install'], ['by_case_2_1'], ['idea']], ['other']]],
    );
  });

  it('steps without an id are called after their case', async () => {
    const { plan } = await loadText(`${NAMES}workflow:
  - { id: route, type: agent, name: router }
  - type: condition
    cases: [{ when: "{{ $steps.route.output.class }}", steps: [{ type: agent, name: a }] }]
    else: [{ type: agent, name: b }]
`);
    expect(plan?.nodes.map(({ id }) => id)).toEqual(['route', 'cond_2', 'cond_2_case_1_1', 'cond_2_else_1']);
  });

  it('a case may jump back, with a limit of its own', async () => {
    const text = `${NAMES}workflow:
  - { id: route, type: agent, name: router }
  - type: condition
    cases: [{ when: '{{ $steps.route.output.class == "again" }}', goto: route, max: 2, on_limit: continue }]
  - { id: last, type: agent, name: a }
`;
    const ran = await runPipeline(text, (step) => (step.startsWith('route') ? '{"class": "again"}' : 'text'));
    expect([ran.outcome, asked(ran)]).toEqual(['degraded', 'route route#2 route#3 last']);
  });

  it('cases work inside of a parallel block, a loop and a map', async () => {
    const inner = `[{ id: r, type: agent, name: router }, { type: condition, cases: [{ when: '{{ $steps.r.output.class == "x" }}', steps: [{ id: x, type: agent, name: a }] }], else: [{ id: y, type: agent, name: b }] }, { id: z, type: agent, name: c }]`;
    const text = `${NAMES}workflow:
  - { type: parallel, id: p, steps: [{ type: sequence, id: s, steps: ${inner} }] }
  - { type: loop, id: l, until: { line: DONE }, max_rounds: 2, steps: ${inner} }
  - { id: list, type: agent, name: a }
  - { type: map, id: m, over: "{{ $steps.list.output }}", steps: ${inner} }
`;
    const ran = await runPipeline(text, (step) => {
      if (step === 'list') return '[1]';
      if (/\br$/.test(step)) return step.startsWith('l') ? '{"class": "y"}' : '{"class": "x"}';
      return 'DONE';
    });
    expect(asked(ran)).toBe('p/s/r p/s/x p/s/z l#1/r l#1/y l#1/z list m[0]/r m[0]/x m[0]/z');
  });
});

describe('[addition 5] when', () => {
  const file = (fix: string): string => `${NAMES}workflow:
  - { id: check, type: agent, name: router }
  - ${fix}
  - { id: after, type: agent, name: b, prompt: "After: {{ $steps.fix.output }}" }
`;
  const step = file(`{ id: fix, type: agent, name: a, when: '{{ $steps.check.output.class == "bad" }}' }`);
  const run = async (text: string, name: string): Promise<Ran> =>
    await runPipeline(text, (path) => (path === 'check' ? JSON.stringify({ class: name }) : `<${path}>`));

  it('skips one step, with the reason, and nothing after it', async () => {
    const ran = await run(step, 'good');
    expect([ran.outcome, asked(ran), ran.census.skipped]).toEqual(['succeeded', 'check after', 1]);
    expect(ran.steps).toMatchObject([{ path: 'fix', node: 'fix', outcome: 'skipped' }]);
    expect(ran.steps[0]?.reason).toContain('is false');
    expect(ran.prompt('after')).toMatch(/After: $/);
  });

  it('runs the step where it holds', async () => {
    const ran = await run(step, 'bad');
    expect([ran.outcome, asked(ran)]).toEqual(['succeeded', 'check fix after']);
    expect(ran.prompt('after')).toMatch(/After: <fix>$/);
  });

  it.each([
    ['a parallel block', '{ id: fix, type: parallel, when: WHEN, steps: [{ id: x, type: agent, name: a }] }'],
    ['a sequence', '{ id: fix, type: sequence, when: WHEN, steps: [{ id: x, type: agent, name: a }] }'],
    [
      'a loop',
      '{ id: fix, type: loop, when: WHEN, until: { line: D }, max_rounds: 2, steps: [{ id: x, type: agent, name: a }] }',
    ],
    ['a map', '{ id: fix, type: map, when: WHEN, over: "{{ $prompt }}", steps: [{ id: x, type: agent, name: a }] }'],
    ['a question', '{ id: fix, type: ask, when: WHEN, question: Go on? }'],
    [
      'an agent that chooses',
      '{ id: fix, type: agent, name: a, when: WHEN, choose: { x: [{ id: x, type: agent, name: c }] } }',
      2,
    ],
  ])('is a key of %s', async (_, text, skipped = 1) => {
    const when = `'{{ $steps.check.output.class == "bad" }}'`;
    const ran = await run(file(text.replace('WHEN', when)).replace(/, prompt: ".*"/, ''), 'good');
    expect([ran.outcome, asked(ran), ran.census.skipped]).toEqual(['succeeded', 'check after', skipped]);
  });

  it('the first and the last step of a list may be skipped', async () => {
    const text = `${NAMES}workflow:
  - { id: one, type: agent, name: a, when: "{{ $prompt == 'x' }}" }
  - { id: two, type: agent, name: b }
  - { id: three, type: agent, name: c, when: "{{ $prompt == 'x' }}" }
`;
    const ran = await runPipeline(text, () => 'text', { prompt: 'y' });
    expect([ran.outcome, asked(ran), ran.census.skipped]).toEqual(['succeeded', 'two', 2]);
  });

  it('is asked anew each time a loop comes by', async () => {
    const text = `${NAMES}workflow:
  - { id: check, type: agent, name: router }
  - { id: fix, type: agent, name: a, when: '{{ $steps.check.output.class == "bad" }}' }
  - { type: condition, condition: '{{ $steps.check.output.class == "done" }}', false: { goto: check } }
`;
    const classes = ['bad', 'good', 'bad', 'done'];
    const ran = await runPipeline(text, (path) =>
      path.startsWith('check') ? JSON.stringify({ class: classes.shift() }) : 'text',
    );
    expect(asked(ran)).toBe('check fix check#2 check#3 fix#3 check#4');
  });
});

describe('[addition 5] problems', () => {
  const condition = (text: string): string =>
    `${NAMES}workflow:\n  - { id: r, type: agent, name: router }\n  - { type: condition, ${text} }\n`;
  const HOLDS = `when: "{{ $steps.r.output.class }}"`;
  const STEPS = 'steps: [{ type: agent, name: a }]';

  it.each([
    [`cases: [{ ${HOLDS}, ${STEPS} }], true: [{ type: agent, name: b }]`, ['mixed-condition']],
    [`cases: [{ ${HOLDS}, ${STEPS} }], false: { goto: r }`, ['mixed-condition']],
    [`cases: [{ ${HOLDS}, ${STEPS} }], condition: "{{ $steps.r.output.class }}"`, ['mixed-condition']],
    [`condition: "{{ $steps.r.output.class }}", true: { goto: r }, else: { goto: r }`, ['mixed-condition']],
    ['cases: []', ['empty-block']],
    [`cases: [{ ${HOLDS} }]`, ['empty-block']],
    [`cases: [{ ${HOLDS}, steps: [] }]`, ['empty-block']],
    [`cases: [{ ${HOLDS}, ${STEPS} }], else: []`, ['empty-block']],
    [`cases: [{ ${STEPS} }]`, ['missing-condition']],
    [`cases: [{ when: " ", ${STEPS} }]`, ['missing-condition']],
    [`cases: [{ when: "class is x", ${STEPS} }]`, ['bad-condition']],
    [`cases: [{ when: "{{ $steps.q.output }}", ${STEPS} }]`, ['unknown-step']],
    [`cases: [{ ${HOLDS}, ${STEPS}, goto: r }]`, ['wrong-form']],
    [`cases: [{ ${HOLDS}, ${STEPS}, then: x }]`, ['unknown-key']],
    [`cases: { ${HOLDS} }`, ['wrong-type']],
    ['cases: [5]', ['wrong-type']],
    [`cases: [{ ${HOLDS}, goto: nowhere }]`, ['unknown-step']],
  ])('%s', async (text, codes) => {
    const { problems, plan } = await loadText(condition(text));
    expect(problems.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(codes);
    expect(plan).toBeUndefined();
  });

  it('[mixed-condition] names its line and column', async () => {
    const { problems } = await loadText(
      condition(`cases: [{ ${HOLDS}, ${STEPS} }], else: { goto: r }, true: { goto: r }`),
    );
    expect(brief(problems)[0]).toMatch(/^8:\d+ error mixed-condition$/);
  });

  it('a max without goto has no effect', async () => {
    const { problems } = await loadText(condition(`cases: [{ ${HOLDS}, ${STEPS}, max: 3 }]`));
    expect(problems.map(({ code, severity }) => [severity, code])).toEqual([['warning', 'no-effect']]);
  });

  it.each([
    [`when: ""`, 'missing-condition'],
    [`when: sometimes`, 'bad-condition'],
    [`when: "{{ $steps.later.output }}"`, 'not-upstream'],
    [`when: "{{ $steps.me.output }}"`, 'not-upstream'],
  ])('%s of a step is %s', async (when, code) => {
    const { problems } = await loadText(
      `${NAMES}workflow:\n  - { id: me, type: agent, name: a, ${when} }\n  - { id: later, type: agent, name: b }\n`,
    );
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('a condition, a jump have no when: a case says it', async () => {
    const { problems } = await loadText(
      condition(`${HOLDS}, condition: "{{ $steps.r.output.class }}", true: { goto: r }`),
    );
    expect(problems.map((problem) => problem.code)).toContain('unknown-key');
  });
});
