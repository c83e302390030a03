import { expect, test } from 'vitest';
import { CHAIN, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `import { graph } from 'skein/graph';

export default graph<{ topic: string; draft: string; verdict: string }>({ name: 'pages', inputs: ['topic'] })
  .addNode('write', ({ topic }) => {
    console.error('WRITES');
    return { draft: 'about ' + topic };
  })
  .addNode('judge', ({ draft }) => ({ verdict: draft + ': fine' }))
  .addEdge('write', 'judge')
  .setEntry('write');
`;

test('[XG11] skein fork --set takes any key of the state', async () => {
  const cwd = await makeProject({ 'flow.ts': FLOW });
  const run = ['run', 'flow.ts', '-i', 'topic=looms', '--no-audit'];
  expect((await served(run, { cwd })).code).toBe(0);
  const forked = await served(['fork', '-1', '--set', 'draft=better', '--json'], { cwd });
  expect(documentOf(forked)).toMatchObject({ outcome: 'succeeded', reused: 1, ran: 1 });
  expect(forked.stdout).toContain('better: fine');
  expect(forked.stderr).not.toContain('WRITES');
});

test('[XG11] in a workflow in YAML too, by the name of the step', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  const forked = await served(['fork', '-1', '--set', 'facts=Nothing is known', '--json'], { cwd });
  expect(documentOf(forked)).toMatchObject({ outcome: 'succeeded', reused: 1, ran: 1 });
  expect(forked.stdout).toContain('Text from Nothing is known');
  const again = await served(['resume', '-1'], { cwd });
  expect(again.stderr).toContain('2 reused, 0 run');
  const wrong = await served(['fork', '-1', '--set', 'steps.fcats.output=x'], { cwd });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('steps.fcats.output');
});

test('skein fork --set of a misspelt key warns where the state takes any key', async () => {
  const cwd = await makeProject({ 'flow.ts': FLOW });
  await served(['run', 'flow.ts', '-i', 'topic=looms', '--no-audit'], { cwd });
  const { code, stderr } = await served(['fork', '-1', '--set', 'darft=better'], { cwd });
  expect(code).toBe(0);
  expect(stderr).toContain('the fork sets "darft", which no step wrote and no one gave to the run: it is a new key');
});

test('show and compare tell which result a fork set, and have its value', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  expect((await served(['fork', '-1', '--set', 'facts=Nothing is known'], { cwd })).code).toBe(0);
  // A fork of a fork keeps what was set before.
  expect((await served(['fork', '-1'], { cwd })).code).toBe(0);
  const shown = await served(['show', '-1'], { cwd });
  expect(shown.stdout).toContain(' 2 steps taken from it, set: steps.facts.output\n');
  expect(shown.stdout).toMatch(/✔ facts .*, taken from \S+, set by the fork\n/);
  const compared = await served(['compare', '-3', '-1'], { cwd });
  expect(compared.stdout).toMatch(/\nfacts +≠ .*, set by the fork\n/);
  expect(compared.stdout).toMatch(/\noutput of facts:\n {2}- .*\n {2}\+ Nothing is known\n/);
  const data = documentOf(await served(['compare', '-3', '-2', '--json'], { cwd }));
  expect(data['steps']).toContainEqual(
    expect.objectContaining({
      path: 'facts',
      differs: true,
      runs: [
        expect.not.objectContaining({ set: ['steps.facts.output'] }),
        expect.objectContaining({ set: ['steps.facts.output'] }),
      ],
    }),
  );
});
