import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { definePlan, run } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import { loadWorkflowText } from 'skein/yaml';
import { served } from '../cli/support/served.js';
import { makeProject } from '../cli/support/skein.js';
import { thrown } from '../thrown.js';

type Plan = ReturnType<typeof definePlan>;

function nested(depth: number, kind: 'call' | 'loop'): Plan {
  let plan = definePlan({
    name: 'inner',
    inputs: [{ name: 'x', default: 0 }],
    nodes: [{ id: 'work', output: 'x', run: ({ x }) => Number(x) + 1 }],
  });
  for (let level = 0; level < depth; level++) {
    const common = { id: 'in', plan, inputs: { x: { channel: 'x' } }, output: 'x' };
    const node = kind === 'call' ? { ...common, kind } : { ...common, kind, until: () => true, maxRounds: 2 };
    plan = definePlan({ name: 'outer', inputs: [{ name: 'x', default: 0 }], nodes: [node] });
  }
  return plan;
}

describe('workflows within workflows', () => {
  test.each(['call', 'loop'] as const)('[XF12] 49 of kind %s run', async (kind) => {
    expect(await run(nested(49, kind)).result).toMatchObject({ outcome: 'succeeded', state: { x: 1 } });
  });

  test.each(['call', 'loop'] as const)('[XF12] 400 of kind %s are a problem that names the limit', (kind) => {
    const { plan, bindings } = nested(400, kind);
    const message = 'workflows are nested deeper than 50 levels';
    expect(thrown(() => run({ plan, bindings }))).toMatchObject({
      code: 'SKEIN_DEFINITION',
      details: { problems: [{ code: 'nested-too-deep', severity: 'error', message }] },
    });
  });

  test('[XF12] a plan of data that is nested too deeply, or contains itself, is an error of the definition', () => {
    const { plan } = nested(0, 'call');
    const round = { ...plan, nodes: [] as unknown[] };
    round.nodes.push({ id: 'in', kind: 'call', plan: round });
    const error = thrown(() =>
      definePlan({ name: 'outer', nodes: [{ id: 'in', kind: 'call', plan: round as typeof plan }] }),
    );
    expect(error).toMatchObject({ code: 'SKEIN_DEFINITION', hint: 'use a loop, or start another run' });
  });

  test('[XF12] graphs: 400 levels are an error of the definition', () => {
    let inner: { readonly plan: Plan['plan'] | undefined } = definePlan({
      name: 'g',
      nodes: [{ id: 'x', output: 'x', run: () => 1 }],
    });
    const error = thrown(() => {
      for (let level = 0; level < 400; level++)
        inner = graph({ name: 'g' })
          .node('x', workflowNode(inner, 'g', { answerKey: 'x' }))
          .compile();
    });
    expect(error.code).toBe('SKEIN_DEFINITION');
    expect(error.message).toContain('workflows are nested deeper than 50 levels');
  });

  test('[XF12] pipelines: 45 blocks in each other are a problem that names the limit', async () => {
    const open = '{id: p, type: parallel, steps: ['.repeat(45);
    const text = `agents: {a: {model: mock/echo, instruction: x}}\nworkflow: [${open}{id: e, type: agent, name: a}${']}'.repeat(45)}]`;
    const { problems } = await loadWorkflowText(text, { cwd: '/' });
    expect(problems).toMatchObject([{ severity: 'error', message: expect.stringMatching(/nested|deep/) as unknown }]);
  });
});

describe('large files', () => {
  const dag = (steps: number): string =>
    [
      'name: large',
      'agents:',
      '  a: {inline: {description: Answers., prompt: Hello.}}',
      'steps:',
      ...Array.from({ length: steps }, (_, at) => [
        `  - id: s${at}`,
        '    agent: a',
        `    prompt: "Say ${at}."`,
        ...(at === 0 ? [] : [`    depends_on: [s${at - 1}]`]),
      ]).flat(),
      '',
    ].join('\n');
  const pipeline = (steps: number): string =>
    [
      'agents: {a: {model: mock/echo, instruction: Answer.}}',
      'workflow:',
      ...Array.from({ length: steps }, (_, at) => [`  - id: s${at}`, '    type: agent', '    name: a']).flat(),
      '',
    ].join('\n');

  test.each([
    ['DAG', dag],
    ['pipeline', pipeline],
  ])('[XF12] a %s of 6,000 steps is valid', async (_, text) => {
    const cwd = await makeProject();
    await writeFile(join(cwd, 'large.yaml'), text(6_000));
    const { code, stderr } = await served(['validate', 'large.yaml'], { cwd });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  });

  test('[XF12] a file over the limit is told so in words of the file', async () => {
    const cwd = await makeProject();
    await writeFile(join(cwd, 'large.yaml'), `name: x\nsteps:\n${'  - {a: b, c: d}\n'.repeat(60_000)}`);
    await writeFile(join(cwd, 'long.yaml'), '\n'.repeat(200_000));
    const many = await served(['validate', 'large.yaml'], { cwd });
    const long = await served(['validate', 'long.yaml'], { cwd });
    expect([many.code, long.code]).toEqual([2, 2]);
    expect(many.stderr).toContain('more than 80000 keys, values and list items');
    expect(long.stderr).toContain('more than 80000 lines');
  });
});
