import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblem, hasErrors } from '../../../src/base/problem.js';
import type { Workflow } from '../../../src/plan/workflow.js';
import { loadWorkflow } from '../../../src/yaml.js';
import { packOf } from '../../machine/support/talking.js';
import { makeProject } from '../project.js';
import { brief } from './run-pipeline.js';

const AGENTS = 'agents: {a: {instruction: x}}\n';
const calls = (...files: readonly string[]): string =>
  `${AGENTS}workflow:\n${files.map((file) => `  - {type: call, file: ${file}}\n`).join('')}`;
const SUB = `${AGENTS}workflow: [{type: agent, name: a, id: s}]\n`;
const DAG =
  'name: d\ninputs: {topic: {}}\nagents: {a: {inline: {prompt: p}}}\nsteps: [{id: s, agent: a, prompt: "{{inputs.topic}}"}]\n';

async function load(files: Readonly<Record<string, string>>, file = 'main.yaml'): Promise<Workflow> {
  return await loadWorkflow(file, { cwd: await makeProject(files) });
}

const told = ({ problems }: Workflow): readonly string[] =>
  problems.map((problem) => formatProblem(problem).split('\n', 1)[0] ?? '');

describe('a step that calls a file', () => {
  it('holds its plan, and the file belongs to the workflow', async () => {
    const { plan, files, problems } = await load({ 'main.yaml': calls('sub/a.yaml'), 'sub/a.yaml': SUB });
    expect(problems).toEqual([]);
    expect(plan?.nodes).toMatchObject([{ kind: 'call', plan: { name: 'a', notation: 'pipeline' } }]);
    expect(files.map(({ path }) => path)).toEqual([
      expect.stringMatching(/main\.yaml$/),
      expect.stringMatching(/sub\/a\.yaml$/),
    ]);
  });

  it('takes a file of another notation, with the inputs that it gives', async () => {
    const main = `${AGENTS}workflow: [{type: call, file: d.yaml, inputs: {topic: x}}]\n`;
    const { plan, problems } = await load({ 'main.yaml': main, 'd.yaml': DAG });
    expect(problems).toEqual([]);
    expect(plan?.nodes).toMatchObject([{ kind: 'call', plan: { name: 'd', notation: 'dag' } }]);
  });

  it.each([
    ['pipeline', `${AGENTS}workflow: [{type: call, file: p.pack.json}]\n`],
    ['DAG workflow', 'name: d\nsteps: [{id: talk, type: call, file: p.pack.json}]\n'],
  ])('of a %s can not be a pack, and says so', async (_, main) => {
    const pack = { ...packOf({ a: {} }), id: 'p' };
    const workflow = await load({ 'main.yaml': main, 'p.pack.json': JSON.stringify(pack) });
    expect(workflow.plan).toBeUndefined();
    expect(told(workflow)).toEqual([
      expect.stringMatching(
        /^main\.yaml:\d:\d+: error called-file: .* calls p\.pack\.json, a pack: a step can't talk with it$/,
      ),
    ]);
  });

  it('names its file from the folder of the file that it stands in', async () => {
    const files = { 'main.yaml': calls('sub/a.yaml'), 'sub/a.yaml': calls('../b.yaml'), 'b.yaml': SUB };
    expect((await load(files)).problems).toEqual([]);
    expect((await load({ 'd/main.yaml': calls('b.yaml'), 'd/b.yaml': SUB }, 'd/main.yaml')).problems).toEqual([]);
  });

  it('stands anywhere: in branches, parallel blocks and maps', async () => {
    const call = '{type: call, file: gone.yaml}';
    const main = `${AGENTS}workflow:
  - {type: agent, name: a, id: x}
  - {type: condition, condition: $steps.x.output, true: [${call}], false: [${call}]}
  - {type: parallel, steps: [${call}]}
  - {type: map, over: $steps.x.output, steps: [${call}]}
`;
    const lines = (await load({ 'main.yaml': main })).problems.filter(({ code }) => code === 'file-missing');
    expect(lines.map(({ at }) => at?.line)).toEqual([4, 4, 5, 6]);
  });

  it('may call the same file as another one, which is read once', async () => {
    const { plan, files, problems } = await load({ 'main.yaml': calls('a.yaml', 'a.yaml'), 'a.yaml': SUB });
    expect(problems).toEqual([]);
    expect([plan?.nodes.length, files.length]).toEqual([2, 2]);
  });

  it('shares the memory of the run', async () => {
    const sub = SUB.replace('instruction: x', 'instruction: x, toolsets: [{type: memory}]');
    const { settings } = await load({ 'main.yaml': calls('a.yaml'), 'a.yaml': sub });
    expect(settings.memory).toEqual({ initial: '' });
  });
});

describe('what is wrong with a file that is called', () => {
  it('that does not exist is told at the call', async () => {
    const workflow = await load({ 'main.yaml': calls('nope.yaml') });
    expect(workflow.plan).toBeUndefined();
    expect(told(workflow)).toEqual([
      'main.yaml:3:24: error file-missing: steps[0]: the workflow file nope.yaml does not exist',
    ]);
  });

  it('is told at its own place, and at the call', async () => {
    const workflow = await load({ 'main.yaml': calls('a.yaml'), 'a.yaml': `${AGENTS}workflow: [{type: agent}]\n` });
    expect(workflow.plan).toBeUndefined();
    expect(told(workflow)).toEqual([
      "main.yaml:3:24: error called-file: steps[0] calls a.yaml, which can't be loaded",
      'a.yaml:2:12: error missing-agent: workflow steps[0]: agent step requires name',
    ]);
  });

  it('warnings alone keep nothing from running', async () => {
    const { plan, problems } = await load({ 'main.yaml': calls('a.yaml'), 'a.yaml': `${SUB}rag: {x: {}}\n` });
    expect(plan).toBeDefined();
    expect(problems).toMatchObject([{ code: 'not-supported', at: { file: 'a.yaml' } }]);
  });

  it.each([
    ['a text', 'hello\n', 'not-a-dag'],
    ['empty', '', 'empty-file'],
    ['no YAML', 'a: [', 'yaml-syntax'],
  ])('%s', async (_, text, code) => {
    const { plan, problems } = await load({ 'main.yaml': calls('a.yaml'), 'a.yaml': text });
    expect(plan).toBeUndefined();
    expect(problems.map((problem) => problem.code)).toEqual(['called-file', code]);
  });
});

describe('files that call each other', () => {
  it('in a ring are told with the ring', async () => {
    const workflow = await load({
      'main.yaml': calls('b/b.yaml'),
      'b/b.yaml': calls('../c.yaml'),
      'c.yaml': calls('b/b.yaml'),
    });
    expect(workflow.plan).toBeUndefined();
    const [ring] = workflow.problems.filter(({ code }) => code === 'call-cycle');
    expect(ring?.message).toBe('files call each other in a circle: b/b.yaml -> c.yaml -> b/b.yaml');
    expect(ring?.at).toMatchObject({ file: 'c.yaml', line: 3, column: 24 });
  });

  it('a file that calls itself', async () => {
    const workflow = await load({ 'main.yaml': calls('main.yaml') });
    expect(told(workflow)).toEqual([
      'main.yaml:3:24: error call-cycle: files call each other in a circle: main.yaml -> main.yaml',
    ]);
  });

  it('under ever new names have a bound', async () => {
    const cwd = await makeProject({ 'main.yaml': calls('again/main.yaml') });
    await symlink('.', join(cwd, 'again'));
    const { plan, problems } = await loadWorkflow('main.yaml', { cwd });
    expect(plan).toBeUndefined();
    expect(problems.map(({ code }) => code)).toContain('call-depth');
  });

  it('and multiply have a bound', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 18 }, (_, at) => [`f${at}.yaml`, calls(`f${at + 1}.yaml`, `f${at + 1}.yaml`)]),
    );
    const { plan, problems } = await load({ ...files, 'f18.yaml': SUB }, 'f0.yaml');
    expect(plan).toBeUndefined();
    expect(problems.map(({ code }) => code)).toContain('too-many-steps');
    expect(hasErrors(problems)).toBe(true);
    expect(brief(problems).length).toBeLessThan(20);
  });
});
