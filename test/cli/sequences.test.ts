import { describe, expect, test } from 'vitest';
import { loadPipelineText } from '../../src/yaml.js';
import { documentOf, makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const AGENTS = 'agents: { a: { instruction: You write. }, b: { instruction: You correct. } }\n';

/** Two steps in one branch of a parallel block. */
const BRANCHES = `${AGENTS}workflow:
  - id: par
    type: parallel
    steps:
      - { id: one, type: agent, name: a, prompt: One. }
      - id: two
        type: sequence
        retry: { max_attempts: 1, initial_delay: 10ms }
        steps:
          - { id: draft, type: agent, name: a, prompt: Draft. }
          - { id: fix, type: agent, name: b, prompt: "Fix {{ $steps.draft.output }}" }
  - id: last
    type: agent
    name: b
    prompt: "{{ $steps.par.outputs.two.outputs.fix.output }}, {{ $steps.par.outputs[1].outputs[0].output }}, {{ $steps.par.outputs.two.order }}"
`;

const draw = async (text: string, args: readonly string[]): Promise<string> => {
  const cwd = await makeProject({ 'flow.yaml': text });
  const { code, stdout, stderr } = await served([args[0] ?? '', 'flow.yaml', ...args.slice(1)], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

describe('a sequence', () => {
  test('[XP4] is a branch of several steps in a parallel block: outputs, context, order', async () => {
    const cwd = await makeProject({ 'flow.yaml': BRANCHES });
    const end = await served(['exec', 'flow.yaml', 'Hi.', '--mock', '--json', '--audit-dir', '.workflow-runs'], {
      cwd,
    });
    expect(end.code).toBe(0);
    const { steps, context } = documentOf(end);
    expect(Object.keys(steps)).toEqual(['par', 'par/one', 'par/two', 'par/two/draft', 'par/two/fix', 'last']);
    expect(steps['par/two/fix']).toMatchObject({ status: 'succeeded', output: 'Fix Draft.' });
    expect(steps['last']).toMatchObject({ output: 'Fix Draft., Draft., ["draft","fix"]' });
    expect(context).toMatchObject({
      steps: {
        par: {
          steps: {
            one: { output: 'One.', agent: 'a' },
            two: {
              steps: { draft: { output: 'Draft.', agent: 'a' }, fix: { output: 'Fix Draft.', agent: 'b' } },
              order: ['draft', 'fix'],
            },
          },
          order: ['one', 'two'],
        },
      },
      order: ['par', 'last'],
    });
    const files = [...(await runFolder(cwd)).keys()];
    expect(files.filter((name) => /par\W+two\W+fix.*output\.md$/.test(name))).toHaveLength(1);
    const again = documentOf(await served(['resume', '-1', '--json'], { cwd }));
    expect(again.steps['par/two/fix']).toMatchObject({ reused: true, output: 'Fix Draft.' });
  });

  test('[XP4] what it gave stands in the context block under its path, in the order of the file', async () => {
    const { plan } = await loadPipelineText(BRANCHES, { cwd: '/nowhere' });
    expect(plan?.channels.flatMap(({ label }) => (label === undefined ? [] : [label]))).toEqual([
      'par/one (agent: a)',
      'par/two/draft (agent: a)',
      'par/two/fix (agent: b)',
      'last (agent: b)',
    ]);
  });

  test('[XP4] is retried as a unit', async () => {
    const script = `rules:
  - { step: one, answer: One. }
  - { step: draft, answers: [First., Second.] }
  - { step: fix, answers: [{ error: { code: SKEIN_TOOL_FAILED } }, Fixed.] }
  - { step: last, answer: Done. }
`;
    const cwd = await makeProject({ 'flow.yaml': BRANCHES, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('\nstep par/two tries again in 10ms: ');
    expect(end.stdout).toContain('Done.');
    expect(end.stderr).toMatch(/✔ par\/two\/fix +succeeded/);
  });

  test('[XP4] jumps stay within it, and are counted', async () => {
    const loop = `${AGENTS}workflow:
  max_loop_iterations: 5
  steps:
    - type: parallel
      id: par
      steps:
        - { id: one, type: agent, name: a }
        - id: two
          type: sequence
          steps:
            - { id: draft, type: agent, name: a }
            - { type: condition, condition: "{{ $steps.draft.output == 'no' }}", true: { goto: draft } }
`;
    const script =
      'strict: false\nrules:\n  - { step: par/two/draft#3, answer: "yes" }\n  - { step: draft, answer: "no" }\n';
    const cwd = await makeProject({ 'flow.yaml': loop, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--json', '--no-audit'], { cwd });
    expect(documentOf(end).steps).toMatchObject({ 'par/two/draft#3': { output: 'yes' }, 'par/one': {} });
    expect(await draw(loop, ['plan'])).toContain('goto draft, at most 5 times');
    const out = await loadPipelineText(loop.replace('goto: draft', 'goto: one'), { cwd: '/nowhere' });
    expect(out.problems).toMatchObject([
      { code: 'bad-jump', hint: 'a jump stays within its own parallel, sequence, loop or map block' },
    ]);
  });

  test('[XP4] the hint for a loop in a parallel block leads to one that works', async () => {
    const condition = `{ type: condition, condition: "{{ $steps.draft.output }}", false: { goto: draft } }`;
    const beside = `${AGENTS}workflow:\n  - type: parallel\n    id: par\n    steps: [{ id: draft, type: agent, name: a }, ${condition}]\n`;
    const { problems } = await loadPipelineText(beside, { cwd: '/nowhere' });
    expect(problems.map(({ hint }) => hint)).toContain(
      'steps of a parallel block start together: put both into one step of it, with type: sequence',
    );
    const inside = beside.replace('steps: [{ id', 'steps: [{ type: sequence, steps: [{ id').replace(/\]\n$/, '] }]\n');
    expect((await loadPipelineText(inside, { cwd: '/nowhere' })).problems).toEqual([]);
  });

  test('[XP4] works in a map, in a branch, in a sequence and in a file that is called', async () => {
    const inner = `${AGENTS}workflow:
  - id: each
    type: map
    over: $prompt
    steps:
      - id: seq
        type: sequence
        steps:
          - { id: x, type: agent, name: a, prompt: "{{ $item }}!" }
          - { type: sequence, id: deep, steps: [{ id: y, type: agent, name: b, prompt: "{{ $steps.x.output }}?" }] }
  - type: condition
    condition: "{{ size($steps.each.output) > 0 }}"
    true: [{ id: more, type: sequence, steps: [{ id: z, type: agent, name: a, prompt: "{{ $steps.each.output }}" }] }]
  - { id: end, type: agent, name: a, prompt: "{{ $steps.more.outputs.z.output }}" }
`;
    const outer = `${AGENTS}workflow: [{ id: call, type: call, file: inner.yaml }]\n`;
    const cwd = await makeProject({ 'flow.yaml': outer, 'inner.yaml': inner });
    const end = await served(['exec', 'flow.yaml', '["one","two"]', '--mock', '--no-audit', '--json'], { cwd });
    const { steps } = documentOf(end);
    expect(end.code).toBe(0);
    expect(steps['call/each[0]/seq/deep/y'] ?? steps['call/each[1]/seq/deep/y']).toBeDefined();
    expect(steps['call/end']).toMatchObject({ output: '["one!?","two!?"]' });
  });

  test('[XP4] plan, graph and validate show it', async () => {
    expect(await draw(BRANCHES, ['plan'])).toMatch(/\n {4}par\/two \(sequence\)\n {6}par\/two\/draft \(agent a;/);
    expect(await draw(BRANCHES, ['graph', '--format', 'mermaid'])).toMatch(
      /subgraph \w+\["two"\]\n {6}\w+\("draft<br\/>agent a"\)/,
    );
    expect(await draw(BRANCHES, ['graph', '--format', 'dot'])).toContain('"two"');
    expect(await draw(BRANCHES, ['validate', '--strict'])).toBe('flow.yaml is valid\n');
    const json = JSON.parse(await draw(BRANCHES, ['plan', '--json'])) as unknown;
    expect(json).toMatchObject({
      steps: [{ id: 'par', kind: 'parallel', steps: [{ id: 'one' }, { id: 'two', kind: 'sequence' }] }, { id: 'last' }],
    });
  });
});

describe("cagent's subworkflow", () => {
  const STEPS = '[{ id: x, type: agent, name: a }, { id: y, type: agent, name: b, prompt: "{{ $steps.x.output }}!" }]';

  test.each([STEPS, `{ steps: ${STEPS}, max_loop_iterations: 2 }`])('[XP4] workflow: %s', async (workflow) => {
    const text = `${AGENTS}workflow:\n  - { id: sub, type: subworkflow, workflow: ${workflow} }\n  - { type: agent, name: a, prompt: "{{ $steps.sub.outputs.y.output }}" }\n`;
    const cwd = await makeProject({ 'flow.yaml': text });
    const end = await served(['exec', 'flow.yaml', 'Hi', '--mock', '--no-audit', '--json'], { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end).steps['step_2']).toMatchObject({ output: 'Hi!' });
  });

  test('[XP4] has its own limit of loops, and says what is wrong in its words', async () => {
    const loop =
      '{ max_loop_iterations: 2, steps: [{ id: x, type: agent, name: a }, { type: condition, condition: $steps.x.output, false: { goto: x } }] }';
    const text = (workflow: string): string =>
      `${AGENTS}workflow: [{ id: sub, type: subworkflow, workflow: ${workflow} }]\n`;
    const cwd = await makeProject({ 'flow.yaml': text(loop) });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('workflow: max loop iterations exceeded (step: x, limit: 2)');
    const told = async (workflow: string): Promise<unknown> => {
      const { problems } = await loadPipelineText(text(workflow), { cwd: '/nowhere' });
      return problems.map(({ code, message }) => `${code}: ${message}`);
    };
    expect(await told('[]')).toEqual(['empty-block: workflow steps[0]: subworkflow step requires workflow']);
    expect(await told('{ steps: [] }')).toEqual(['empty-block: workflow steps[0]: subworkflow step requires workflow']);
    expect(await told('text')).toEqual([expect.stringContaining('wrong-type: steps[0].workflow: expected a list')]);
    expect(await told('{ steps: [{ type: agent }] }')).toEqual([
      'missing-agent: workflow steps[0].workflow.steps[0]: agent step requires name',
    ]);
  });
});
