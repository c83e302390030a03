import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTemplate } from '../../src/lang/template.js';
import { loadDagText } from '../../src/yaml.js';
import { brief, flow, load, nodeOf, planOf } from './project.js';

const TWO = (prompt: string, extra = ''): string =>
  `  - {id: d, agent: a, prompt: p}\n  - {id: s, agent: a, prompt: ${JSON.stringify(prompt)}, depends_on: [d]${extra}}\n`;
const Q = 'inputs: {q: {default: x}}\n';

describe('templates', () => {
  it('37: inputs and outputs of steps are references, with or without inner spaces', async () => {
    const workflow = await load(flow(TWO('{{inputs.q}}|{{ inputs.q }}|{{steps.d.output}}|{{  steps.d.output }}'), Q));
    expect(nodeOf(workflow, 's').prompt).toEqual([
      { channel: 'inputs.q' },
      '|',
      { channel: 'inputs.q' },
      '|',
      { channel: 'steps.d.output' },
      '|',
      { channel: 'steps.d.output' },
    ]);
  });

  it('37: whatever is not a valid reference stays as it is', async () => {
    const text = '{{ }} {x} {{#if a}} {{inputs.q | upper}} }} {{';
    const workflow = await load(flow(TWO(text), Q));
    expect(nodeOf(workflow, 's').prompt).toEqual([text]);
    expect(workflow.problems).toEqual([]);
  });

  it('[XU3] the bare name of a step or an input is an error that says what was meant', async () => {
    const workflow = await load(flow(TWO('{{ d }} {{d.output.files}} {{q}} {{d.title}}'), Q));
    expect(workflow.problems).toMatchObject([
      { code: 'bad-reference', hint: expect.stringContaining('did you mean {{steps.d.output}}?') as string },
      { code: 'bad-reference', hint: expect.stringContaining('did you mean {{steps.d.output.files}}?') as string },
      { code: 'bad-reference', hint: expect.stringContaining('did you mean {{inputs.q}}?') as string },
      { code: 'bad-reference', hint: expect.stringContaining('did you mean {{steps.d.output.title}}?') as string },
    ]);
    expect(workflow.plan).toBeUndefined();
  });

  it('[XU3] any other name stays as it is, with a warning; one behind a backslash is text', async () => {
    const workflow = await load(flow(TWO('{{foo}} \\{{q}} \\{{ steps.d.output }} {{steps.d.output}}'), Q));
    expect(nodeOf(workflow, 's').prompt).toEqual([
      '{{foo}} {{q}} {{ steps.d.output }} ',
      { channel: 'steps.d.output' },
    ]);
    expect(brief(workflow.problems)).toEqual(['7:32 warning not-a-reference']);
  });

  it('37: what only looks like a reference stays too, with a warning', async () => {
    const workflow = await load(flow(TWO('{{steps.d}} {{steps.d.length}} {{inputs.q.x}}'), Q));
    expect(nodeOf(workflow, 's').prompt).toEqual(['{{steps.d}} {{steps.d.length}} {{inputs.q.x}}']);
    expect(brief(workflow.problems)).toEqual([
      '7:32 warning not-a-reference',
      '7:44 warning not-a-reference',
      '7:63 warning not-a-reference',
    ]);
  });

  it('decision 4: a path goes into JSON output', async () => {
    const workflow = await load(flow(TWO('{{steps.d.output.files.0.name}}')));
    expect(nodeOf(workflow, 's').prompt).toEqual([{ channel: 'steps.d.output', path: ['files', '0', 'name'] }]);
  });

  it('38: text that a model produced is not looked at again', async () => {
    const workflow = await load(flow(TWO('{{steps.d.output}}'), Q));
    const state: Record<string, string> = { 'steps.d.output': '{{inputs.q}} $1 $&', 'inputs.q': 'secret' };
    expect(renderTemplate(nodeOf(workflow, 's').prompt, (channel) => state[channel])).toBe('{{inputs.q}} $1 $&');
  });

  it('40: inline agent prompts and condition values have references too', async () => {
    const workflow = await load(
      `name: t
inputs: {q: }
agents: {a: {inline: {prompt: "You know {{inputs.q}}."}}}
steps:
  - {id: d, agent: a, prompt: p}
  - {id: s, agent: a, prompt: p, depends_on: [d], condition: {step: d, equals: "{{inputs.q}}"}}
`,
    );
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent.instructions).toEqual(['You know ', { channel: 'inputs.q' }, '.']);
    expect(nodeOf(workflow, 's').when).toEqual([
      { op: 'equals', value: { channel: 'steps.d.output' }, operand: [{ channel: 'inputs.q' }] },
    ]);
    expect(planOf(workflow).inputs).toMatchObject([{ required: true }]);
  });

  it('40: an inline prompt may refer only to what each of its steps can see', async () => {
    const workflow = await load(
      `name: t
agents: {a: {inline: {prompt: "After {{steps.d.output}}"}}, b: {inline: {prompt: "{{inputs.no}}"}}}
steps:
  - {id: d, agent: b, prompt: p}
  - {id: s, agent: a, prompt: p, depends_on: [d]}
  - {id: r, agent: a, prompt: p}
  - {id: r2, agent: b, prompt: p}
`,
    );
    expect(workflow.problems.map((problem) => problem.message)).toEqual([
      'step "r" refers to the step "d", which need not have run before',
      'agent "b" uses the input "no", which is not declared',
    ]);
    expect(brief(workflow.problems)[0]).toBe('2:38 error not-upstream');
  });

  it('40: the body of an agent file has none: braces in it belong to other systems', async () => {
    const workflow = await load('name: t\nagents: {a: {file: a.md}}\nsteps: [{id: s, agent: a, prompt: p}]\n', {
      'a.md': '---\nname: x\n---\nUse {{inputs.secret}} and {{steps.s.output}}.\n',
    });
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent.instructions).toEqual(['Use {{inputs.secret}} and {{steps.s.output}}.\n']);
  });

  it('42: an input that is given need not be declared', async () => {
    const steps = '  - {id: s, agent: a, prompt: "{{inputs.extra}}"}\n';
    expect((await load(flow(steps))).plan).toBeUndefined();
    const given = await load(flow(steps), {}, { inputs: ['extra', 'extra'] });
    expect(given.problems).toEqual([]);
    expect(planOf(given).inputs).toEqual([{ channel: 'inputs.extra', name: 'extra', required: false }]);
  });

  it('[XU4] one that nothing declares or refers to is most likely misspelt: an error', async () => {
    const steps = '  - {id: s, agent: a, prompt: "{{inputs.topic}}"}\n';
    const text = `inputs: {topic: {default: looms}}\n${flow(steps)}`;
    const given = await load(text, {}, { inputs: ['topc', 'topic', 'topc'] });
    expect(given.plan).toBeUndefined();
    expect(given.problems).toEqual([
      {
        code: 'unknown-input',
        severity: 'error',
        message: 'no text refers to the input "topc", and it is not declared',
        hint: 'did you mean "topic"?',
      },
    ]);
  });

  it.each(['__proto__', 'a b', '-x', ''])('42: but its name must be one (%j)', async (name) => {
    const workflow = await load(flow('  - {id: s, agent: a, prompt: p}\n'), {}, { inputs: [name] });
    expect(workflow.plan).toBeUndefined();
  });

  it('a reference to a step far upstream is fine', async () => {
    const workflow = await load(
      flow(`  - {id: x, agent: a, prompt: p}
  - {id: y, agent: a, prompt: p, depends_on: [x]}
  - {id: z, agent: a, prompt: "{{steps.x.output}}", depends_on: [y]}
`),
    );
    expect(workflow.problems).toEqual([]);
  });

  it('a reference in text with escapes is placed at the value', async () => {
    const workflow = await load(flow('  - {id: s, agent: a, prompt: "\\x7b{inputs.no}}"}\n'));
    expect(brief(workflow.problems)).toEqual(['5:31 error unknown-input']);
  });
});

describe('truncation', () => {
  const limits = (config: string, output: string): string =>
    `${flow(TWO('{{steps.d.output}} {{inputs.q}}', ', condition: {step: d, contains: "{{steps.d.output}}"}'), `${Q}${config}`)}${output}`;
  const CONFIG = 'config: {truncate: {strategy: lines, limit: 5, keep: last}}\n';
  const OUTPUT = 'output: {truncate: {strategy: chars, limit: 100}}\n';
  const lines = { strategy: 'lines', limit: 5, keep: 'last' };
  const chars = { strategy: 'chars', limit: 100 };

  it.each([
    ['config.truncate', CONFIG, '', lines, lines],
    ['output.truncate', '', OUTPUT, chars, chars],
    ['both', CONFIG, OUTPUT, lines, chars],
  ])('decision 15: %s cuts outputs in prompts and what is printed', async (_, config, output, inPrompt, printed) => {
    const workflow = await load(limits(config, output));
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').prompt).toEqual([
      { channel: 'steps.d.output', truncate: inPrompt },
      ' ',
      { channel: 'inputs.q' },
    ]);
    expect(nodeOf(workflow, 's').when).toMatchObject([{ operand: [{ channel: 'steps.d.output' }] }]);
    expect(workflow.settings.output.truncate).toEqual(printed);
  });

  it('46: the first characters stay, and a note says how many there were', async () => {
    const workflow = await load(limits('', 'output: {truncate: {strategy: chars, limit: 3}}\n'));
    const text = renderTemplate(nodeOf(workflow, 's').prompt, (name) => (name === 'inputs.q' ? 'Q' : 'áb\u{1F600}de'));
    expect(text).toMatch(/^áb\u{1F600}\n\n\.\.\. \[.*5.*3.*\] Q$/u);
  });

  it('50: without a limit nothing is cut; an unknown strategy is a problem', async () => {
    expect((await load(limits('', 'output: {truncate: {strategy: chars}}\n'))).settings.output).not.toHaveProperty(
      'truncate',
    );
    const wrong = await load(limits('', 'output: {truncate: {strategy: words, limit: 3}}\n'));
    expect(wrong.problems.map((problem) => problem.code)).toEqual(['unknown-value']);
  });
});

describe('conditions', () => {
  const when = async (condition: string): Promise<Awaited<ReturnType<typeof load>>> =>
    await load(flow(TWO('p', `, condition: ${condition}`), Q));

  it('decision 5: all operators that are given must hold', async () => {
    const workflow = await when('{step: d, contains: A, not_contains: B, equals: C, matches_json: {ok: true}}');
    expect(nodeOf(workflow, 's').when?.map((condition) => condition.op)).toEqual([
      'contains',
      'not_contains',
      'equals',
      'matches_json',
    ]);
  });

  it('44: no operator, or an empty one, always holds, with a warning', async () => {
    for (const condition of ['{step: d}', '{step: d, equals: ""}']) {
      const workflow = await when(condition);
      expect(nodeOf(workflow, 's')).not.toHaveProperty('when');
      expect(workflow.problems.map((problem) => problem.code)).toEqual(['no-effect']);
    }
  });

  it.each(['{approved: true, files: [a]}', `'{"approved": true, "files": ["a"]}'`])(
    'decision 5: matches_json is YAML or a JSON text: %s',
    async (operand) => {
      const workflow = await when(`{step: d, matches_json: ${operand}}`);
      expect(nodeOf(workflow, 's').when).toMatchObject([{ operand: { approved: true, files: ['a'] } }]);
    },
  );

  it('decision 5: matches_json that is not JSON', async () => {
    expect((await when(`{step: d, matches_json: '{"a": }'}`)).problems[0]?.code).toBe('bad-json');
  });

  it('decision 5: an expression sees the output of its step, other steps upstream and inputs', async () => {
    const workflow = await when(`{step: d, cel: 'output.ok && steps.d.output.n > 2 && inputs.q == "x"'}`);
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').when).toMatchObject([
      {
        op: 'cel',
        vars: {
          output: { channel: 'steps.d.output' },
          steps: { fields: { d: { fields: { output: { channel: 'steps.d.output' } } } } },
          inputs: { fields: { q: { channel: 'inputs.q' } } },
        },
      },
    ]);
  });

  it('decision 5: an expression may use all steps upstream at once', async () => {
    const workflow = await when(`{cel: 'size(steps) == 1'}`);
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').when).toMatchObject([{ vars: { steps: { fields: { d: {} } } } }]);
  });
});

describe('places of references', () => {
  it('are right wherever the references stand in blocks of text', async () => {
    const line = fc.constantFrom('text', '', '{{inputs.no}}', 'x {{ inputs.no }} y {{inputs.no2}}', '  {{inputs.no}}');
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (lines) => {
        const block = ['first', ...lines].map((text) => `      ${text}`).join('\n');
        const text = flow(`  - id: s\n    agent: a\n    prompt: |\n${block}\n`);
        const wanted = text
          .split('\n')
          .flatMap((source, at) => [...source.matchAll(/\{\{/g)].map((found) => `${at + 1}:${found.index + 1}`));
        const { problems } = await loadDagText(text, { cwd: '/' });
        expect(problems.map(({ at }) => `${at?.line}:${at?.column}`)).toEqual(wanted);
      }),
      { numRuns: 200 },
    );
  });
});
