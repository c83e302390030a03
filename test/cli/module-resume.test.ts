import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentOf, makeProject, skein, startSkein } from './support/skein.js';
import { served } from './support/served.js';

/** Each function that runs adds its name to a file; the second one waits while there is a file `wait`. */
const FLOW = `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { graph } from 'skein/graph';

const ran = (name: string): void => appendFileSync('ran.txt', name + ' ');

export default graph<{ topic: string }>({ name: 'three' })
  .node('facts', ({ topic }): string => {
    ran('facts');
    return 'facts about ' + topic;
  })
  .node('draft', async ({ facts }) => {
    ran('draft');
    while (existsSync('wait')) await setTimeout(10);
    return facts + ', drafted';
  })
  .node('title', ({ topic }): string => {
    ran('title');
    return topic.toUpperCase();
  })
  .node('page', ({ title, draft }) => {
    ran('page');
    return title + ': ' + draft;
  })
  .setEntry('facts')
  .setExit('page');
`;

const RUN = ['run', 'flow.ts', '-i', 'topic=looms', '--no-audit'];
const PAGE = '# Workflow Results\n\n## Step: page\n\nLOOMS: facts about looms, drafted\n';

/** What ran since this was asked before. */
async function ranIn(cwd: string): Promise<readonly string[]> {
  const file = join(cwd, 'ran.txt');
  const text = await readFile(file, 'utf8').catch(() => '');
  await writeFile(file, '');
  return text.split(' ').filter((name) => name !== '');
}

/** A run that was killed while its draft waited. */
async function killed(): Promise<string> {
  const cwd = await makeProject({ 'flow.ts': FLOW, wait: '' });
  const running = startSkein(RUN, { cwd });
  await running.seen('step title succeeded');
  await running.seen('step draft started');
  running.child.kill('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
  await rm(join(cwd, 'wait'));
  expect((await ranIn(cwd)).toSorted()).toEqual(['draft', 'facts', 'title']);
  return cwd;
}

/** A run that has ended well. What is edited after it needs a process of its own: one process loads a module once. */
async function finished(): Promise<string> {
  const cwd = await makeProject({ 'flow.ts': FLOW });
  expect(await served(RUN, { cwd })).toMatchObject({ code: 0, stdout: PAGE });
  await ranIn(cwd);
  return cwd;
}

async function edit(cwd: string, from: string, to: string): Promise<void> {
  expect(FLOW).toContain(from);
  await writeFile(join(cwd, 'flow.ts'), FLOW.replace(from, to));
}

describe('a graph of a module that was killed', () => {
  test('goes on with skein resume: what is finished is not done again', async () => {
    const cwd = await killed();
    const end = await served(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: PAGE });
    expect(end.stderr).toContain('\n2 reused, 2 run\n');
    expect(end.stderr).not.toContain('is not what the run');
    expect(await ranIn(cwd)).toEqual(['draft', 'page']);
  });

  test('needs its module for that: its functions are nowhere else', async () => {
    const cwd = await killed();
    await rm(join(cwd, 'flow.ts'));
    const end = await served(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(
      /^error SKEIN_FILE: the workflow file no longer exists: .*flow\.ts\n    hint: put it back, then resume the run\n$/,
    );
  });

  test('stays as it was while the module is broken', async () => {
    const cwd = await killed();
    await edit(cwd, ".setExit('page')", ".setExits('page')");
    const end = await served(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(
      /^flow\.ts:\d+:\d+: error module-throws: the module throws TypeError: .*setExits is not a function/,
    );
    await writeFile(join(cwd, 'flow.ts'), FLOW);
    expect((await skein(['resume', '-1'], { cwd })).stderr).toContain('\n2 reused, 2 run\n');
  });
});

describe('an edited function', () => {
  test('is told as the step that changed, and only it and what its result changes run again', async () => {
    const cwd = await finished();
    await edit(cwd, "', drafted'", "', written'");
    const end = await skein(['resume', '-1'], { cwd });
    expect(end.stderr).toMatch(
      /flow\.ts is not what the run of three was recorded with:\n {2}step draft changed: code\nruns again: draft\nruns again where what it builds on comes out differently: page\n/,
    );
    expect(end.stdout).toContain('LOOMS: facts about looms, written');
    expect(end.stderr).toContain('\n2 reused, 2 run\n');
    expect(await ranIn(cwd)).toEqual(['draft', 'page']);
  });

  test('that gives the same as before spreads no further', async () => {
    const cwd = await finished();
    await edit(cwd, "facts + ', drafted'", '`${facts}, drafted`');
    const end = await skein(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: PAGE });
    expect(await ranIn(cwd)).toEqual(['draft']);
  });

  test('and no other edit: lines, comments, imports and types around functions change no step', async () => {
    const cwd = await finished();
    const text = FLOW.replace(
      'export default',
      '// A comment.\ninterface Unused { a: string }\n\nexport default',
    ).replace('import { graph }', "import { basename as graph_ } from 'node:path';\nimport { graph }");
    await writeFile(join(cwd, 'flow.ts'), `${text}void graph_;\n`);
    const end = await skein(['resume', '-1'], { cwd });
    expect(end.stderr).not.toContain('is not what the run');
    expect(end.stderr).toContain('\n4 reused, 0 run\n');
    expect(await ranIn(cwd)).toEqual([]);
  });
});

describe('a fork', () => {
  test('with another input runs what reads it', async () => {
    const cwd = await finished();
    const end = await served(['fork', '-1', '--set', 'topic=tides', '--json'], { cwd });
    expect(documentOf(end)).toMatchObject({
      outcome: 'succeeded',
      state: { page: 'TIDES: facts about tides, drafted' },
    });
    expect((await ranIn(cwd)).toSorted()).toEqual(['draft', 'facts', 'page', 'title']);
  });

  test('from a step runs it and what comes after it', async () => {
    const cwd = await finished();
    expect((await served(['fork', '-1', '--from', 'draft'], { cwd })).code).toBe(0);
    expect(await ranIn(cwd)).toEqual(['draft', 'page']);
  });
});
