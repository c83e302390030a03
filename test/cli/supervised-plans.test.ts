import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const DAG = `name: release
supervise: { model: mock/echo, max_reorients: 2 }
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: notes, agent: w, prompt: Write. }
  - { id: publish, agent: w, depends_on: [notes], prompt: Publish., supervise: { human: true, instruction: "Publish {{steps.notes.output}} once" } }
  - { id: thanks, agent: w, depends_on: [publish], prompt: Thank., supervise: true, model: mock/echo }
`;

const PIPELINE = `agents: { w: { instruction: You write., model: mock/echo } }
workflow:
  - { id: both, type: parallel, supervise: { instruction: Do both., max_reorients: 0 }, steps: [{ id: a, type: agent, name: w }, { id: b, type: agent, name: w }] }
`;

describe('a supervised workflow', () => {
  test('[addition 3] plan tells what is supervised, by whom, what is promised, and how many calls that makes', async () => {
    const cwd = await makeProject({
      'flow.yaml': DAG.replace(', supervise: true, model: mock/echo', ', supervise: false'),
    });
    const { code, stdout } = await served(['plan', 'flow.yaml'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(
      '  notes (agent w; model of the environment; no tools)\n    judged by mock/echo, at most 2 corrections\n',
    );
    expect(stdout).toContain('    judged by a person, at most 2 corrections\n');
    expect(stdout).toContain('promises:\n      │ Publish {{steps.notes.output}} once\n');
    expect(stdout.match(/judged by/g)).toHaveLength(2);
    // A promise; then for each attempt the work, what is said of it, and the verdict of a model, each tried 3 times at most.
    const [tries, rounds] = [3, 3];
    const body = tries;
    const notes = tries + rounds * (body + 2 * tries);
    const publish = tries + rounds * (body + tries);
    expect(stdout).toContain(`model calls: 7 typically, ${notes + publish + body} at most\n`);
    expect(stdout).toContain(`  of these for supervision: 4 typically, ${notes + publish - 2 * body} at most\n`);
  });

  test('[addition 3] plan --json has the same as data', async () => {
    const cwd = await makeProject({ 'flow.yaml': PIPELINE });
    const document = documentOf(await served(['plan', 'flow.yaml', '--json'], { cwd }));
    expect(document).toMatchObject({
      supervisionCalls: { typical: 2, worst: 9 },
      steps: [
        {
          id: 'both',
          supervision: {
            by: 'model',
            maxReorients: 0,
            instruction: 'Do both.',
            text: 'judged by a model, no corrections',
          },
        },
      ],
    });
    const plain = documentOf(
      await served(['plan', 'plain.yaml', '--json'], {
        cwd: await makeProject({ 'plain.yaml': PIPELINE.replace(/ supervise: \{.*?\},/, '') }),
      }),
    );
    expect(plain).not.toHaveProperty('supervisionCalls');
  });

  test.each([
    ['mermaid', /judged by a person, at most 2 corrections/],
    ['dot', /judged by mock\/echo, at most 2 corrections/],
    ['svg', /judged by a person, at most 2 corrections/],
    ['boxes', /judged by a person/],
  ])('[addition 3] drawings show it: %s', async (format, expected) => {
    const cwd = await makeProject({ 'flow.yaml': DAG.replace('supervise: true', 'interactive: false') });
    const { code, stdout } = await served(['graph', 'flow.yaml', ...(format === 'boxes' ? [] : ['--format', format])], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(expected);
  });

  test('[decision 7] validate names the place of what would remove the gate of a person, and nothing runs', async () => {
    const text = DAG.replace('{ model: mock/echo, max_reorients: 2 }', '{ human: true }');
    const cwd = await makeProject({ 'flow.yaml': text });
    for (const command of ['validate', 'run']) {
      const { code, stderr } = await served([command, 'flow.yaml'], { cwd });
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /flow\.yaml:7:\d+: error human-gate: step "thanks" lets a model take over the supervision by a person/,
      );
      expect(stderr).toContain('hint: remove supervise from it, or write supervise: {human: true}');
    }
  });
});
