import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAIN, MAIN, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const RUN = ['run', 'flow.yaml', '--mock'];

async function modesOf(folder: string): Promise<Record<string, string>> {
  const modes: Record<string, string> = {};
  for (const name of ['.', ...(await filesIn(folder))]) {
    const info = await lstat(join(folder, name));
    modes[name] = `${info.isDirectory() ? 'folder' : 'file'} ${(info.mode & 0o777).toString(8)}`;
  }
  return modes;
}

describe('what is written about a run', () => {
  it('[XS7] folders of runs and recordings are for their owner alone, as the store is', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served([...RUN, '--record', 'calls.jsonl'], { cwd });
    expect((await stat(join(cwd, 'calls.jsonl'))).mode & 0o777).toBe(0o600);
    for (const folder of ['.workflow-runs', '.skein']) {
      const modes = new Set(Object.values(await modesOf(join(cwd, folder))));
      modes.delete('file 644'); // the .gitignore of the store
      expect([...modes].toSorted()).toEqual(['file 600', 'folder 700']);
    }
  });

  it.each([
    ['.skein', 1],
    ['.workflow-runs', 2],
  ])('[XS7] %s that is a link is refused, and nothing is written there', async (name, code) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await mkdir(join(cwd, 'elsewhere'));
    await symlink(join(cwd, 'elsewhere'), join(cwd, name));
    const end = await served(RUN, { cwd });
    expect(end.code).toBe(code);
    expect(end.stderr).toContain('is a link');
    expect(await readdir(join(cwd, 'elsewhere'))).toEqual([]);
  });

  it('[XS7] [XR8] a link in the place of the store is refused, also one that leads nowhere', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await mkdir(join(cwd, '.skein'));
    await symlink(join(cwd, 'nowhere.db'), join(cwd, '.skein/skein.db'));
    const end = await served(RUN, { cwd });
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(
      /SKEIN_STORE: \S+skein\.db is a link, where recorded runs would be\n {4}hint: move it away/,
    );
    expect(await filesIn(cwd)).not.toContain('nowhere.db');
  });

  it('a folder of runs that this user may not enter is refused as what it is', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await mkdir(join(cwd, '.skein'));
    await chmod(join(cwd, '.skein'), 0);
    await chmod(cwd, 0o755);
    // Nothing is closed to root: another user looks at it.
    const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    for (const words of [['runs'], ['show', '-1'], [...RUN, '--no-audit']]) {
      const end = spawnSync(process.execPath, [MAIN, ...words], { cwd, ...user, encoding: 'utf8' });
      expect([words, end.status]).toEqual([words, 1]);
      expect(end.stderr).toMatch(
        /SKEIN_STORE: \S+, with the recorded runs, cannot be opened \(EACCES\)\n {4}hint: check/,
      );
    }
  });

  it('a folder in the place of the store is refused, with what to do', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await mkdir(join(cwd, '.skein/skein.db'), { recursive: true });
    const end = await served(RUN, { cwd });
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(
      /skein\.db is a folder, where the file of recorded runs would be\n {4}hint: move it away; --no-store runs without a record\n/,
    );
    expect((await served(['show', '-1'], { cwd })).stderr).toContain('hint: move it away\n');
  });

  it('[XS7] retention removes folders of the same project alone', async () => {
    const runs = await makeProject();
    const flow = `${CHAIN}config: { audit_dir: "${runs}", audit_retention: 1 }\n`;
    const [one, other] = [await makeProject({ 'flow.yaml': flow }), await makeProject({ 'flow.yaml': flow })];
    await served(RUN, { cwd: one });
    await served(RUN, { cwd: other });
    await served(RUN, { cwd: other });
    const names = (await readdir(runs)).filter((name) => /^\d{4}-/.test(name));
    expect(names).toHaveLength(2);
    const metas = await Promise.all(names.map((name) => readFile(join(runs, name, '.skein-run'), 'utf8')));
    const projects = metas.map((text) => (JSON.parse(text) as { readonly project: string }).project);
    expect(new Set(projects).size).toBe(2);
  });
});

it('[XS7] a store whose first process was killed before it wrote anything belongs to the user who goes on', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  await mkdir(join(cwd, '.skein'));
  // SQLite makes the file first.
  await writeFile(join(cwd, '.skein/skein.db'), '');
  expect((await served(['runs'], { cwd })).code).toBe(0);
  expect((await served([...RUN, '--no-audit'], { cwd })).code).toBe(0);
  expect((await served(['resume', '-1', '--no-audit'], { cwd })).code).toBe(0);
});

describe('a store that came with a checkout', () => {
  /** A project with a recorded run, as somebody else gets it: with a home of their own. */
  async function checkedOut(): Promise<string> {
    const theirs = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd: theirs });
    const mine = await makeProject();
    for (const name of ['flow.yaml', '.skein']) await cp(join(theirs, name), join(mine, name), { recursive: true });
    return mine;
  }

  it.each([
    ['resume', '-1'],
    ['fork', '-1'],
  ])('[XS7] skein %s does not believe it unasked', async (...words) => {
    const cwd = await checkedOut();
    expect((await served(['runs'], { cwd })).code).toBe(0);
    expect((await served(['show', '-1'], { cwd })).code).toBe(0);
    const refused = await served([...words, '--no-audit'], { cwd });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/SKEIN_STORE: the recorded runs in \S+ were not made by you here/);
    expect(refused.stderr).toContain('skein runs trust');
    const once = await served([...words, '--no-audit'], { cwd, env: { SKEIN_TRUST_STORE: '1' } });
    expect(once.code).toBe(0);
    expect((await served([...words, '--no-audit'], { cwd })).code).toBe(1);
    expect((await served(['runs', 'trust'], { cwd })).code).toBe(0);
    expect((await served([...words, '--no-audit'], { cwd })).code).toBe(0);
  });

  it('[XS7] a run that is recorded in it does not make it one of the user', async () => {
    const cwd = await checkedOut();
    expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
    expect((await served(['resume', '-2', '--no-audit'], { cwd })).code).toBe(1);
  });

  it('[XS7] where nothing can be kept for the user, a run is recorded, and a resume says what to do', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await writeFile(join(cwd, 'home'), 'a file, where the home folder would be');
    const run = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(run.code).toBe(0);
    expect((await served(['resume', '-1', '--no-audit'], { cwd })).stderr).toContain('SKEIN_TRUST_STORE=1');
  });
});
