import { describe, expect, it } from 'vitest';
import { agents, loadText } from './run-pipeline.js';

/** An agent that says what its output looks like. */
const SCHEMA =
  'structured_output: {name: o, schema: {type: object, additionalProperties: false, properties: {is_approved: {type: boolean}, list: {type: array, items: {type: object, properties: {name: {type: string}}}}}}}';

/** 15 lines of steps behind 4 lines of agents; what a test adds begins on line 17. */
const HEAD = `${agents('a', ['qa', SCHEMA])}workflow:
  - {id: gen, type: agent, name: a}
  - type: parallel
    id: par
    steps:
      - {id: x, type: agent, name: qa}
      - type: parallel
        id: inner
        steps:
          - {id: y, type: agent, name: a}
          - {id: z, type: agent, name: a}
  - {id: approval, type: ask, question: "Go?", choices: [yes, no]}
  - {id: rev, type: agent, name: qa}
`;

/** Errors and warnings as `line:column code message | hint`. */
async function found(steps: string, head = HEAD): Promise<readonly string[]> {
  const { problems } = await loadText(head + steps);
  return problems.map(({ at, code, message, hint }) => `${at?.line}:${at?.column} ${code} ${message} | ${hint}`);
}

/** A last step with a prompt. The text between the quotes begins in column 47. */
const prompting = (prompt: string): string => `  - {id: last, type: agent, name: a, prompt: '${prompt}'}\n`;

it('a name in braces that is an item of a list lacks its $', async () => {
  const list = (prompt: string): string =>
    `  - {id: all, type: map, over: $steps.rev.output.list, as: issue, steps: [{id: fix, type: agent, name: a, prompt: '${prompt}'}]}\n`;
  expect(await found(list('{{ $issue.name }} {{ $index }} \\{{ issue }}'))).toEqual([]);
  const said = await found(list('{{ issue.name }} {{ index }} {{ other }}'));
  expect(said).toEqual([
    expect.stringMatching(/ bad-reference .*"{{ issue.name }}" names no value \| did you mean {{ \$issue.name }}\?/),
    expect.stringMatching(/ bad-reference .*"{{ index }}" names no value \| did you mean {{ \$index }}\?/),
    expect.stringMatching(/ not-a-reference "{{ other }}"/),
  ]);
});

describe('references to outputs', () => {
  it.each([
    '{{ $steps.gen.output }}',
    '{{$steps.par.outputs.x.output}}',
    '{{ $steps.par.outputs[0].output }}',
    '{{ $steps.par.outputs.inner.outputs.y.output }}',
    '{{ $steps.par.outputs.inner.y.output }}',
    '{{ $steps.par.outputs[1].outputs[1].output }}',
    '{{ $steps["gen"].output }}',
    '{{ $steps.rev.output.is_approved }}',
    '{{ $steps.rev.output.list[0].name }}',
    '{{ $steps.par.order }}',
    '{{ $prompt }}',
    'no \\{{ steps.gen.output }}, {{#each}}, {{ and {{{ so on',
  ])('%s', async (prompt) => {
    expect(await found(prompting(prompt))).toEqual([]);
  });

  it.each([
    [
      '{{ steps.gen.output }}',
      'bad-reference',
      '"{{ steps.gen.output }}" names no value | did you mean {{ $steps.gen.output }}?',
    ],
    ['{{gen}}', 'bad-reference', '"{{gen}}" names no value | did you mean {{ $steps.gen.output }}?'],
    ['{{ $steps.gem.output }}', 'unknown-step', 'refers to the step "gem", which does not exist | did you mean "gen"?'],
    ['{{ $steps.y.output }}', 'unknown-step', 'in this place | write $steps.par.outputs.inner.outputs.y.output'],
    [
      '{{ $steps.par.outputs.innr.output }}',
      'unknown-step',
      'refers to the step "innr" of step "par", which does not exist | did you mean "inner"?',
    ],
    [
      '{{ $steps.par.outputs[2].output }}',
      'out-of-range',
      'refers to index 2 of step "par", which has 2 steps | indexes are 0 to 1',
    ],
    [
      '{{ $steps.par.output }}',
      'missing-output',
      'which has one for each of its steps | write $steps.par.outputs.x.output',
    ],
    ['{{ $steps.par.outputs }}', 'missing-output', 'refers to all outputs of step "par"'],
    ['{{ $steps.gen }}', 'missing-output', 'refers to step "gen" without ".output" | write $steps.gen.output'],
    ['{{ $steps.rev.is_approved }}', 'missing-output', 'without ".output" | write $steps.rev.output.is_approved'],
    [
      '{{ $steps.rev.output.is_aproved }}',
      'no-such-path',
      'has no property "is_aproved" | did you mean "is_approved"?',
    ],
    [
      '{{ $steps.rev.output.list.name }}',
      'no-such-path',
      '"name" is looked for in a value of the type array | write the index of an item: [0]',
    ],
    ['{{ $steps.rev.output.is_approved.x }}', 'no-such-path', 'in a value of the type boolean | leave the path out'],
    [
      '{{ $steps.gen.output.ok }}',
      'no-structured-output',
      'has no schema | add a schema to that step, or make sure that its output is JSON',
    ],
    ['{{ $steps.last.output }}', 'not-upstream', 'refers to its own output | a step sees what ran before it'],
    ['{{ $steps }}', 'bad-reference', 'without naming a step | write $steps.ID.output'],
    ['{{ $step.gen.output }}', 'unknown-variable', 'refers to $step, which does not exist | did you mean "steps"?'],
    ['{{ $item }}', 'unknown-variable', 'refers to $item, which does not exist | only the steps of a map have an item'],
    [
      '{{ $steps.gen.output + 1 }}',
      'bad-reference',
      'is not a valid reference | references are {{ $steps.ID.output }}',
    ],
  ])('%s: %s', async (prompt, code, words) => {
    const [problem, ...more] = await found(prompting(`so ${prompt}`));
    expect(more).toEqual([]);
    expect(problem).toContain(`17:50 ${code} step "last"`);
    expect(problem).toContain(words);
  });

  it('an index of a block with a single step', async () => {
    const one = '  - {id: one, type: parallel, steps: [{id: only, type: agent, name: a}]}\n';
    const [problem] = await found(one + prompting('{{ $steps.one.outputs[3].output }}'));
    expect(problem).toContain('refers to index 3 of step "one", which has 1 step | indexes are 0 to 0');
  });

  it('each has its own place, in a text of several lines too', async () => {
    const steps =
      '  - id: last\n    type: agent\n    name: a\n    prompt: |\n      One {{ $steps.b.output }}\n      two {{ $steps.b.output }}\n';
    expect((await found(steps)).map((problem) => problem.split(' ')[0])).toEqual(['21:11', '22:11']);
  });
});

describe('what can have run before', () => {
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    [
      'a step behind the reader',
      `${prompting('{{ $steps.then.output }}')}  - {id: then, type: agent, name: a}\n`,
      "can't have run before it | put step",
    ],
    [
      'the other branch',
      '  - {type: condition, condition: "{{ $steps.gen.output }}", true: [{id: yes1, type: agent, name: a}], false: [{id: no1, type: agent, name: a, prompt: "{{ $steps.yes1.output }}"}]}\n',
      'their branches exclude each other',
    ],
    [
      'a step beside it in the same parallel block',
      '  - {id: p2, type: parallel, steps: [{id: l, type: agent, name: a}, {id: r, type: agent, name: a, prompt: "{{ $steps.l.output }}"}]}\n',
      'which runs at the same time | read it after the parallel block',
    ],
    [
      'a step beside it, by its full name',
      '  - {id: p2, type: parallel, steps: [{id: l, type: agent, name: a}, {id: r, type: agent, name: a, prompt: "{{ $steps.p2.outputs.l.output }}"}]}\n',
      'which runs at the same time',
    ],
    [
      'a branch that may have been left out',
      `  - {type: condition, condition: "{{ $steps.gen.output }}", true: [{id: yes1, type: agent, name: a}]}\n${prompting('{{ $steps.yes1.output }}')}`,
      undefined,
    ],
    [
      'a step before it in its own branch inside of a block',
      '  - {id: p2, type: parallel, steps: [{type: condition, condition: "{{ $steps.gen.output }}", true: [{id: l, type: agent, name: a}, {id: r, type: agent, name: a, prompt: "{{ $steps.l.output }}"}]}]}\n',
      undefined,
    ],
    [
      'itself, and a step behind it, in a loop',
      `${prompting('{{ $steps.last.output }} {{ $steps.then.output }}')}  - {id: then, type: agent, name: a}\n  - {type: condition, condition: "{{ $steps.then.output }}", false: [{goto: last}]}\n`,
      undefined,
    ],
    [
      'a step beside it in the round before',
      '  - {id: p2, type: parallel, steps: [{id: l, type: agent, name: a}, {id: r, type: agent, name: a, prompt: "{{ $steps.l.output }}"}]}\n  - {type: condition, condition: "{{ $steps.gen.output }}", false: [{goto: p2}]}\n',
      undefined,
    ],
    [
      'what a jump forward leaves out',
      `  - {type: condition, condition: "{{ $steps.gen.output }}", true: [{goto: last}]}\n  - {id: mid, type: agent, name: a}\n${prompting('{{ $steps.mid.output }}')}`,
      undefined,
    ],
  ];
  it.each(cases)('%s', async (_, steps, words) => {
    // A branch that runs an agent once more is warned about: it might be meant as a jump.
    const problems = (await found(steps)).filter((problem) => !problem.includes(' runs-once '));
    expect(problems).toHaveLength(words === undefined ? 0 : 1);
    if (words !== undefined) expect(problems[0]).toMatch(/ not-upstream /);
    expect(problems[0] ?? '').toContain(words ?? '');
  });
});

describe('references in instructions', () => {
  const file = (instruction: string, steps: string): string =>
    `agents:\n  a: {instruction: "${instruction}"}\n  bravo: {instruction: x}\nworkflow:\n${steps}`;

  it('are resolved for each step of the agent', async () => {
    const steps = '  - {id: s, type: agent, name: bravo}\n  - {id: t, type: agent, name: a}\n';
    expect(await found(steps, file('Mind {{ $steps.s.output }}. {{ date }} {{ $HOME }}', ''))).toEqual([]);
    const before = await found(`  - {id: r, type: agent, name: a}\n${steps}`, file('Mind {{ $steps.s.output }}.', ''));
    expect(before).toHaveLength(1);
    expect(before[0]).toMatch(/^2:26 not-upstream step "r" refers to step "s"/);
  });

  it('an agent that does not exist is told with the nearest name', async () => {
    const problems = await found('  - {id: s, type: agent, name: brava}\n', file('x', ''));
    expect(problems).toEqual([
      '5:32 unknown-agent step "s" uses the agent "brava", which does not exist | did you mean "bravo"?',
    ]);
  });
});

describe('what has no value where it is asked for', () => {
  const codes = async (steps: string, head = HEAD): Promise<readonly string[]> =>
    (await found(steps, head)).map((each) => each.split(' ')[1] ?? '');

  it('an item outside of a map, also in an instruction', async () => {
    const head = 'agents:\n  a: {instruction: "Look at {{ $item }}"}\nworkflow:\n';
    expect(await codes('  - {id: s, type: agent, name: a}\n', head)).toEqual(['unknown-variable']);
  });

  it('a later step of a map, also in a loop around the map', async () => {
    const map = `  - id: each
    type: map
    over: $steps.gen.output
    steps:
      - {id: one, type: agent, name: a, prompt: '{{ $steps.two.output }}'}
      - {id: two, type: agent, name: a}
  - {type: condition, condition: $steps.gen.output, false: {goto: each}}
`;
    const problems = await found(map);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('refers to step "two", which can\'t have run before it | put step "one" after it');
  });

  it('the output of a file that ends in several steps', async () => {
    const sub = `${agents('a', 'b')}workflow:\n  - {id: first, type: agent, name: a}\n  - {type: condition, condition: $steps.first.output, true: [{type: agent, name: b}], false: [{type: ask, question: x}]}\n`;
    const steps = `workflow:\n  - {id: sub, type: call, file: sub.yaml}\n  - {type: agent, name: a, prompt: '{{ $steps.sub.output }}'}\n`;
    const { problems } = await loadText(agents('a') + steps, { 'sub.yaml': sub });
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ['missing-output', 'name one of its steps: $steps.sub.outputs.ID.output'],
    ]);
  });
});

describe('what is told once', () => {
  it('a condition without text is missing, and not wrong besides', async () => {
    const steps = `  - {type: condition, condition: ' ', true: [{type: agent, name: qa}]}\n`;
    expect((await found(steps)).map((each) => each.split(' ')[1])).toEqual(['missing-condition', 'runs-once']);
  });

  it('an agent of a file without agents says where to add it', async () => {
    expect(await found('', 'workflow:\n  - {type: agent, name: a}\n')).toEqual([
      '2:25 unknown-agent steps[0] uses the agent "a", which does not exist | the file has no agents: add "a" under agents',
    ]);
  });
});

describe('jumps and what they leave', () => {
  it('a jump to itself never ends', async () => {
    expect((await found('  - {id: here, goto: here}\n')).map((each) => each.split(' ')[1])).toEqual(['endless-loop']);
  });

  it('what stands behind a jump is told once, not for each reference in it', async () => {
    const steps = `  - goto: gem\n${prompting('{{ $steps.gen.output }}')}  - {type: map, over: $steps.gen.output, steps: [{type: agent, name: a, prompt: '{{ $steps.gen.output }}'}]}\n`;
    expect((await found(steps)).map((each) => each.split(' ')[1])).toEqual(['unknown-step', 'unreachable-step']);
  });

  it.each([
    ['unknown', '  - {goto: genn}\n', /unknown-step .*"genn", which does not exist \| did you mean "gen"\?/],
    ['an index that is too large', '  - {goto: 9}\n', /out-of-range .*\| the steps of this list are 0 to 4/],
    ['into a block', '  - {goto: y}\n', /bad-jump .*which belongs to step "inner"/],
    ['round and round', '  - {id: again, type: goto, goto: rev}\n', /^17:\d+ endless-loop step "again" jumps back/],
    [
      'past a step',
      '  - {id: skip, type: goto, goto: last}\n  - {id: never, type: agent, name: a}\n  - {id: last, type: agent, name: a}\n',
      /^18:\d+ unreachable-step step "never" can never run/,
    ],
  ])('%s', async (_, steps, words) => {
    const problems = await found(steps);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(words);
  });
});
