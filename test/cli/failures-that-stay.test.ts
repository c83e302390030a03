import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject, skein } from './support/skein.js';

const AGENTS = 'agents: { w: { instruction: Write. } }\n';
const dag = (steps: string): string =>
  `name: flow\ninputs: { xs: { default: '[1, 2, 3]' } }\nagents: { w: { inline: { prompt: Write. } } }\nsteps:\n${steps}`;

interface Case {
  readonly file: string;
  readonly text: string;
  /** What is changed in the file, so that a resume gets past the failure. */
  readonly edit: readonly [string, string];
  readonly code: string;
  /** The step that the proposed fork names. */
  readonly from: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'a loop at its cap, in a pipeline': {
    file: 'flow.yaml',
    text: `${AGENTS}workflow:\n  - { id: rounds, type: loop, max_rounds: 2, until: "{{ $steps.b.output == 'Done' }}", steps: [{ id: b, type: agent, name: w }] }\n`,
    edit: ["== 'Done'", "!= ''"],
    code: 'SKEIN_MAX_ROUNDS',
    from: 'rounds',
  },
  'a loop at its cap, in a DAG workflow': {
    file: 'flow.yaml',
    text: dag(
      '  - { id: rounds, type: loop, max_rounds: 2, until: "steps.b.output == \'Done\'", steps: [{ id: b, agent: w, prompt: Hi }] }\n',
    ),
    edit: ["== 'Done'", "!= ''"],
    code: 'SKEIN_MAX_ROUNDS',
    from: 'rounds',
  },
  'an answer that a check refuses, in a block': {
    file: 'flow.yaml',
    text: 'agents: { w: { instruction: Write., checks: [{ kind: min_length, characters: 9999 }] } }\nworkflow:\n  - { id: par, type: parallel, steps: [{ id: a, type: agent, name: w }] }\n',
    edit: ['9999', '1'],
    code: 'SKEIN_CHECK',
    from: 'par/a',
  },
  'a jump at its cap': {
    file: 'flow.yaml',
    text: `${AGENTS}workflow:\n  - { id: a, type: agent, name: w }\n  - { type: condition, condition: "{{ $steps.a.output == 'Done' }}", false: { goto: a, max: 1 } }\n`,
    edit: ["== 'Done'", "!= ''"],
    code: 'SKEIN_MAX_VISITS',
    from: 'STEP',
  },
  'a list with too many items': {
    file: 'flow.yaml',
    text: dag(
      '  - { id: a, agent: w, prompt: Hi }\n  - { id: m, type: map, over: inputs.xs, max_items: 2, depends_on: [a], steps: [{ id: b, agent: w, prompt: Hi }] }\n',
    ),
    edit: ['max_items: 2', 'max_items: 3'],
    code: 'SKEIN_MAX_ITEMS',
    from: 'STEP',
  },
  'an invariant of a graph': {
    file: 'flow.mjs',
    text: `import { graph } from 'skein/graph';
const small = { predicate: ({ state }) => (state.a ?? 0) < 2, message: 'a stays small' };
export default graph({ invariants: [small] }).node('a', () => 3);
`,
    edit: ['< 2', '< 4'],
    code: 'SKEIN_INVARIANT',
    from: 'STEP',
  },
  'items of a map that share a name': {
    file: 'flow.mjs',
    text: `import { graph } from 'skein/graph';
export default graph().node('a', () => [{ id: 1 }, { id: 1 }]).map('b', { over: 'a', item: 'item', key: 'id' }, ({ item }) => item.id);
`,
    edit: [", key: 'id'", ''],
    code: 'SKEIN_INPUT',
    from: 'STEP',
  },
  'a loop whose first round gives nothing but its end': {
    file: 'flow.mjs',
    text: `import { graph, loopNode } from 'skein/graph';
const round = graph().node('text', () => 'CONVERGED');
const ends = { until: { line: 'CONVERGED' }, keep: 'before', maxRounds: 3 };
export default graph().node('a', () => 3).node('rounds', loopNode(round, ends)).addEdge('a', 'rounds').setEntry('a');
`,
    edit: ["=> 'CONVERGED'", "=> 'Rain\\nCONVERGED'"],
    code: 'SKEIN_MODEL_EMPTY',
    from: 'rounds',
  },
  'a number of rounds that does not fit': {
    file: 'flow.mjs',
    text: `import { graph, loopNode } from 'skein/graph';
const round = graph().node('text', () => 'Rain');
const ends = { until: { line: 'Rain' }, rounds: 'a', maxRounds: 3 };
export default graph().node('z', () => 1).node('a', () => 0).node('rounds', loopNode(round, ends)).addEdge('a', 'rounds').setEntry('z').addEdge('z', 'a');
`,
    edit: ['=> 0', '=> 2'],
    code: 'SKEIN_INPUT',
    from: 'STEP',
  },
  'a route that leads nowhere': {
    file: 'flow.mjs',
    text: `import { graph } from 'skein/graph';
export default graph().node('a', () => 3).node('b', () => 5).route('a', () => 'nowhere', { targets: ['b'] });
`,
    edit: ["'nowhere'", "'b'"],
    code: 'SKEIN_BAD_ROUTE',
    from: 'STEP',
  },
};

const CHANGE = 'next: change what led to the failure, then continue: without a change it fails again';
const FORK = 'next: or get another result of a step: it and what follows from it run again';
const AGAIN = 'next: try again what failed, and keep what is finished';

/** The commands below a line of `next:`. */
const below = (line: string, said: string): string => (said.split(`${line}\n  `)[1] ?? '').split('\n')[0] ?? '';

describe('a failure that a resume alone meets again', () => {
  test.each(Object.entries(CASES))('%s: says to change something, or to fork', async (_, one) => {
    const cwd = await makeProject({ [one.file]: one.text });
    const first = await served(['run', one.file, '--mock'], { cwd });
    const shown = await served(['show', '-1'], { cwd });
    const again = await served(['resume', '-1'], { cwd });
    expect(again.stderr).toMatch(/ reused, 0 run/);
    for (const said of [first.stderr, shown.stdout, again.stderr]) {
      expect(said).toContain(one.code);
      expect(said).not.toContain(AGAIN);
      expect(below(CHANGE, said)).toMatch(/^skein resume [0-9a-f]+(?: --trust)?$/);
      expect(below(FORK, said)).toMatch(new RegExp(`^skein fork [0-9a-f]+ --from ${one.from}(?: --trust)?$`));
    }
    const fork = below(FORK, first.stderr).replace('STEP', 'a').split(' ').slice(1);
    expect((await served(fork, { cwd })).stderr).toMatch(/[0-9] reused, [1-9] run/);
    await writeFile(join(cwd, one.file), one.text.replace(...one.edit));
    // A process loads a module once, and this one was edited.
    const later = one.file.endsWith('.mjs') ? skein : served;
    const resumed = await later(below(CHANGE, first.stderr).split(' ').slice(1), { cwd });
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringMatching(/[1-9] reused/)]);
  });

  test('a call that a person refused: the fork asks about it again', async () => {
    const step = '  - { id: b, run: [echo, hi], approve: true, depends_on: [a] }';
    const text = dag(`  - { id: a, agent: w, prompt: Hi }\n${step}\n`);
    const cwd = await makeProject({ 'flow.yaml': text });
    await served(['run', 'flow.yaml', '--mock'], { cwd });
    await served(['answer', '-1', 'deny'], { cwd });
    for (const words of [
      ['resume', '-1'],
      ['show', '-1'],
    ]) {
      const { stdout, stderr } = await served(words, { cwd });
      const said = stdout + stderr;
      expect([said.includes('a person refused this call'), said.includes(AGAIN)]).toEqual([true, false]);
      expect(below(FORK, said)).toMatch(/^skein fork [0-9a-f]+ --from b(?: --trust)?$/);
    }
    const fork = below(FORK, (await served(['show', '-1'], { cwd })).stdout);
    expect((await served(fork.split(' ').slice(1), { cwd })).stderr).toContain('May the step "b" call shell?');
  });

  test('a function that fails because of what its parts gave: a resume fails again with that, and then the fork is named', async () => {
    const cwd = await makeProject({
      'flow.mjs': `import { graph } from 'skein/graph';
export default graph().node('judge', async (_state, step) => {
  throw new Error(await step.run('answer', () => 'not good enough'));
}, { inputs: [] });
`,
    });
    const first = await served(['run', 'flow.mjs', '--trust'], { cwd });
    expect([first.code, first.stderr.includes(AGAIN), first.stderr.includes(FORK)]).toEqual([3, true, false]);
    const again = await served(['resume', '-1', '--trust'], { cwd });
    expect(again.stderr).toContain('not good enough');
    expect([again.stderr.includes(AGAIN), below(FORK, again.stderr)]).toEqual([
      false,
      expect.stringMatching(/^skein fork [0-9a-f]+ --from judge/),
    ]);
  });

  test('too many nodes one after another: names the flag that allows more', async () => {
    const text = `${AGENTS}workflow:\n  - { id: a, type: agent, name: w }\n  - { id: b, type: agent, name: w }\n`;
    const cwd = await makeProject({ 'flow.yaml': text });
    const { stderr } = await served(['run', 'flow.yaml', '--mock', '--max-steps', '1'], { cwd });
    const said = 'next: continue with a higher bound, and keep what is finished';
    expect(below(said, stderr)).toMatch(/^skein resume [0-9a-f]+ --max-steps N$/);
    const words = below(said, stderr).replace('N', '9').split(' ').slice(1);
    expect((await served(words, { cwd })).stderr).toContain('1 reused, 1 run');
  });

  test('a failure that was allowed: says so, too; beside one that may go away a resume is worth it', async () => {
    const step = '  - { id: a, type: agent, name: w, on_error: continue }\n';
    const text = `agents: { w: { instruction: Write., checks: [{ kind: min_length, characters: 9999 }] }, v: { instruction: Write. } }\nworkflow:\n${step}`;
    const cwd = await makeProject({
      'flow.yaml': text,
      'two.yaml': `${text}  - { id: b, type: agent, name: v, on_error: continue }\n`,
      'two.script.yaml':
        'rules:\n  - { step: a, answer: x }\n  - { step: b, answers: [{ error: { code: SKEIN_TIMEOUT, message: none } }] }\n',
    });
    const one = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(one.stderr).toContain('finished degraded');
    expect(below(FORK, one.stderr)).toMatch(/--from a$/);
    expect((await served(['show', '-1'], { cwd })).stdout).toContain(CHANGE);
    const two = await served(['run', 'two.yaml', '--mock=two.script.yaml'], { cwd });
    expect(two.stderr).toContain(AGAIN);
    expect((await served(['show', '-1'], { cwd })).stdout).toContain(AGAIN);
  });
});

test('a run out of budget is shown with the command that raises the budget', async () => {
  const text = `${AGENTS}workflow:\n  - { id: a, type: agent, name: w }\n  - { id: b, type: agent, name: w }\n`;
  const cwd = await makeProject({ 'flow.yaml': text });
  const { stderr } = await served(['run', 'flow.yaml', '--mock', '--budget', '1-call'], { cwd });
  const said = 'next: continue where it stopped';
  expect(below(said, stderr)).toContain(' --budget ');
  expect(below(said, (await served(['show', '-1'], { cwd })).stdout)).toBe(below(said, stderr).replace(' --trust', ''));
});
