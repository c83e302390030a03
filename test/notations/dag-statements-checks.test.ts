import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../src/base/problem.js';
import { brief, flow, load } from './project.js';

/** Step lines, the problems that are expected, and a part of the first hint. */
type Row = readonly [name: string, steps: string, problems: readonly string[], hint?: string];

const ROWS: readonly Row[] = [
  [
    '12: two steps with one id',
    '  - {id: q, agent: a, prompt: p}\n  - {id: q, agent: a, prompt: p}\n',
    ['6:10 error duplicate-step'],
    'line 5',
  ],
  ['13: a step without agent', '  - {id: q, prompt: p}\n', ['5:5 error missing-agent'], 'agent: NAME'],
  ['13: a step without prompt', '  - {id: q, agent: a}\n', ['5:5 error missing-prompt'], 'prompt: TEXT'],
  ['13: an empty prompt', '  - {id: q, agent: a, prompt: " "}\n', ['5:31 error missing-prompt']],
  [
    '14: an agent that is not in agents',
    '  - {id: q, agent: zz, prompt: p}\n',
    ['5:20 error unknown-agent'],
    'agents of this workflow: a',
  ],
  [
    '16: an unknown dependency',
    '  - {id: scan, agent: a, prompt: p}\n  - {id: q, agent: a, prompt: p, depends_on: [scam]}\n',
    ['6:47 error unknown-step'],
    'did you mean "scan"?',
  ],
  ['16: a dependency on itself', '  - {id: q, agent: a, prompt: p, depends_on: [q]}\n', ['5:47 error self-dependency']],
  [
    '17: a condition on an unknown step',
    '  - {id: q, agent: a, prompt: p, condition: {step: r, contains: x}}\n',
    ['5:52 error unknown-step'],
  ],
  [
    '17: a condition on a step that is not upstream',
    '  - {id: r, agent: a, prompt: p}\n  - {id: q, agent: a, prompt: p, condition: {step: r, contains: x}}\n',
    ['6:52 error not-upstream'],
    'add r to its depends_on',
  ],
  [
    '18: a template with an unknown step, at its place in a block of text',
    '  - id: q\n    agent: a\n    prompt: |\n      Hello\n      and {{steps.nope.output}}\n',
    ['9:11 error unknown-step'],
  ],
  [
    '18, 30: a template with a step that need not have run',
    '  - {id: r, agent: a, prompt: p}\n  - {id: q, agent: a, prompt: "{{steps.r.output}}"}\n',
    ['6:32 error not-upstream'],
    'add r to its depends_on',
  ],
  [
    '18: a template with the output of its own step',
    '  - {id: q, agent: a, prompt: "{{steps.q.output}}"}\n',
    ['5:32 error not-upstream'],
  ],
  [
    '20: a cycle, with one path that exists',
    `  - {id: x, agent: a, prompt: p, depends_on: [y]}
  - {id: y, agent: a, prompt: p, depends_on: [z, w]}
  - {id: z, agent: a, prompt: p, depends_on: [x]}
  - {id: w, agent: a, prompt: p}
`,
    ['7:47 error cycle'],
    'remove one of the dependencies',
  ],
  ['21: an empty id', '  - {id: "", agent: a, prompt: p}\n', ['5:10 error missing-id']],
  ['21: no id', '  - {agent: a, prompt: p}\n', ['5:5 error missing-id']],
  ['21: an id with a space', '  - {id: "a b", agent: a, prompt: p}\n', ['5:10 error bad-name']],
  ['21: an id with a slash', '  - {id: a/b, agent: a, prompt: p}\n', ['5:10 error bad-name']],
  ['21: an id with dots', '  - {id: ../x, agent: a, prompt: p}\n', ['5:10 error bad-name']],
  ['21: an id that begins with -', '  - {id: "-x", agent: a, prompt: p}\n', ['5:10 error bad-name']],
  ['21: an id of 65 letters', `  - {id: ${'x'.repeat(65)}, agent: a, prompt: p}\n`, ['5:10 error bad-name']],
  ['21: __proto__ as an id', '  - {id: __proto__, agent: a, prompt: p}\n', ['5:10 error forbidden-name']],
  ['21: constructor as an id', '  - {id: constructor, agent: a, prompt: p}\n', ['5:10 error forbidden-name']],
  [
    '33: a timeout that is no duration',
    '  - {id: q, agent: a, prompt: p, timeout: soon}\n',
    ['5:43 error bad-duration'],
  ],
  [
    '33: a timeout without a unit',
    '  - {id: q, agent: a, prompt: p, timeout: 90}\n',
    ['5:43 error bad-duration'],
    'write 90s for seconds',
  ],
  ['33: a timeout of nothing', '  - {id: q, agent: a, prompt: p, timeout: 0s}\n', ['5:43 error bad-duration']],
  ['32: a negative retry_count', '  - {id: q, agent: a, prompt: p, retry_count: -1}\n', ['5:47 error out-of-range']],
  [
    '32: a retry_count that is no number',
    '  - {id: q, agent: a, prompt: p, retry_count: many}\n',
    ['5:47 error wrong-type'],
  ],
  [
    'decision 3: an unknown on_error',
    '  - {id: q, agent: a, prompt: p, on_error: contniue}\n',
    ['5:44 error unknown-value'],
    'did you mean "continue"?',
  ],
  [
    'decision 7: an unknown key of a step',
    '  - {id: q, agent: a, prompt: p, depend_on: []}\n',
    ['5:34 error unknown-key'],
    'did you mean "depends_on"?',
  ],
  [
    'decision 7: a text where a list must be',
    '  - {id: q, agent: a, prompt: p, depends_on: x}\n',
    ['5:46 error wrong-type'],
    'write a list: [x]',
  ],
  [
    'decision 7: yes where true is meant',
    '  - {id: q, agent: a, prompt: p, interactive: yes}\n',
    ['5:47 error wrong-type'],
    'write true',
  ],
  ['decision 7: a step that is a text', '  - just do it\n', ['5:5 error wrong-type']],
  [
    '39, decision 4: an unknown input',
    '  - {id: q, agent: a, prompt: "{{inputs.nope}}"}\n',
    ['5:32 error unknown-input'],
    'declare it',
  ],
  [
    'decision 5: an expression that does not parse',
    '  - {id: q, agent: a, prompt: p, condition: {cel: "1 +"}}\n',
    ['5:51 error bad-expression'],
  ],
  [
    'decision 5: an expression over a step that is not upstream',
    `  - {id: r, agent: a, prompt: p}\n  - {id: q, agent: a, prompt: p, condition: {cel: 'steps.r.output == "x"'}}\n`,
    ['6:51 error not-upstream'],
  ],
  [
    'decision 5: a text operator without a step',
    '  - {id: q, agent: a, prompt: p, condition: {contains: x}}\n',
    ['5:45 error condition-step'],
    'step: ID',
  ],
];

describe('what is checked before anything runs', () => {
  it.each(ROWS.map(([name, ...row]) => ({ name, row })))('$name', async ({ row: [steps, problems, hint] }) => {
    const workflow = await load(flow(steps));
    expect(brief(workflow.problems)).toEqual(problems);
    expect(workflow.plan).toBeUndefined();
    for (const problem of workflow.problems) expect(problem.hint, problem.message).toBeDefined();
    expect(workflow.problems[0]?.hint ?? '').toContain(hint ?? '');
    expect(workflow.problems[0]?.at?.file).toBe('flow.yaml');
  });

  it('10: a workflow without a name', async () => {
    const steps = 'agents: {a: {inline: {}}}\nsteps: [{id: q, agent: a, prompt: p}]\n';
    for (const head of ['', 'name: ""\n', 'name:\n']) {
      expect((await load(head + steps)).problems.map((problem) => problem.code)).toEqual(['missing-name']);
    }
  });

  it.each(['', 'steps: []\n', 'steps:\n'])('11: a workflow without steps (%j)', async (steps) => {
    const workflow = await load(`name: x\nagents: {a: {inline: {}}}\n${steps}`);
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['no-steps']);
  });

  it('20: the path of a cycle is in running order', async () => {
    const workflow = await load(
      flow(`  - {id: x, agent: a, prompt: p, depends_on: [y]}
  - {id: y, agent: a, prompt: p, depends_on: [z]}
  - {id: z, agent: a, prompt: p, depends_on: [x]}
`),
    );
    expect(workflow.problems[0]?.message).toBe('these steps wait for each other: z -> y -> x -> z');
  });

  it('19: all problems are reported at once, in the order of the file', async () => {
    const workflow = await load(
      flow(
        `  - {id: a/b, agent: zz, prompt: "{{inputs.no}}"}
  - {id: q, prompt: p, depends_on: [nope], timeout: x}
  - {id: q, agent: a, prompt: p, bogus: 1}
`,
        'config: {log_level: loud}\n',
      ),
    );
    expect(brief(workflow.problems)).toEqual([
      '2:21 error unknown-value',
      '6:10 error bad-name',
      '6:22 error unknown-agent',
      '6:35 error unknown-input',
      '7:5 error missing-agent',
      '7:37 error unknown-step',
      '7:53 error bad-duration',
      '8:10 error duplicate-step',
      '8:34 error unknown-key',
    ]);
    expect(workflow.problems.map(formatProblem)[0]).toMatch(/^flow\.yaml:2:21: error unknown-value: /);
  });

  it('a long chain of steps is checked without running out of stack', async () => {
    const steps = Array.from({ length: 1_500 }, (_, at) => {
      const needs = at === 0 ? '' : `, depends_on: [s${at - 1}]`;
      return `  - {id: s${at}, agent: a, prompt: p${needs}}\n`;
    });
    const last = '  - {id: end, agent: a, prompt: "{{steps.s0.output}}", depends_on: [s1499]}\n';
    const workflow = await load(flow(steps.join('') + last));
    expect(workflow.problems).toEqual([]);
    expect(workflow.plan?.nodes).toHaveLength(1_501);
  });
});
