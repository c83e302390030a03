import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHAIN, makeProject } from './support/skein.js';
import { served } from './support/served.js';

function untracked(cwd: string): string {
  return execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd, encoding: 'utf8' })
    .split('\n')
    .filter((line) => !line.startsWith('?? home/'))
    .join('\n');
}

test('[XU7] what a run writes into a project is nothing to commit', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  execFileSync('git', ['init', '--quiet'], { cwd });
  const before = untracked(cwd);
  expect((await served(['run', 'flow.yaml', '--mock'], { cwd })).code).toBe(0);
  expect(untracked(cwd)).toBe(before);
  expect(await readFile(join(cwd, '.workflow-runs', '.gitignore'), 'utf8')).toBe('*\n');
  expect(await readFile(join(cwd, '.skein', '.gitignore'), 'utf8')).toBe('*\n');
});

test('[XU7] folders that were there keep what they say, and one of a name that somebody chose is theirs', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  execFileSync('git', ['init', '--quiet'], { cwd });
  await mkdir(join(cwd, '.workflow-runs'));
  await writeFile(join(cwd, '.workflow-runs', '.gitignore'), '!*\n');
  expect((await served(['run', 'flow.yaml', '--mock'], { cwd })).code).toBe(0);
  expect(await readFile(join(cwd, '.workflow-runs', '.gitignore'), 'utf8')).toBe('!*\n');
  expect((await served(['run', 'flow.yaml', '--mock', '--audit-dir', 'kept'], { cwd })).code).toBe(0);
  expect(untracked(cwd)).toMatch(/^\?\? kept\/.*\/workflow\.meta\.json$/m);
});
