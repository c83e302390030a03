import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findSecrets } from '../../src/secrets/find-secrets.js';
import { startSkein } from '../cli/support/skein.js';

const TALK =
  'name: talk\nagents:\n  a: { inline: { prompt: You talk., tools: [] } }\nsteps:\n  - { id: s, agent: a, prompt: Go. }\n';

/** A folder with a workflow. */
async function checkout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-env-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'flow.yaml'), TALK);
  return folder;
}

test('a .env that has no end, or whose begin never comes, keeps no command waiting', async () => {
  const cwd = await checkout();
  await symlink('/dev/zero', join(cwd, '.env'));
  await promisify(execFile)('mkfifo', [join(cwd, '.env.local')]);
  await mkdir(join(cwd, '.env.more'));
  await writeFile(join(cwd, '.env.own'), 'OWN_TOKEN=value-of-this-folder\n');
  for (const words of [
    ['validate', 'flow.yaml'],
    ['run', 'flow.yaml', '--mock'],
  ])
    expect(await startSkein(words, { cwd }).ended).toMatchObject({ code: 0 });
  expect(findSecrets({ env: {}, folder: cwd })).toEqual(['value-of-this-folder']);
});

test('very large .env files, or many of them, take no more memory than one', async () => {
  const cwd = await checkout();
  const line = (at: number): string => `A${at}_KEY=${'0123456789abcdef'.repeat(4)}${at}\n`;
  const text = Array.from({ length: 2_500 }, (_, at) => line(at)).join('');
  await Promise.all(Array.from({ length: 40 }, (_, at) => writeFile(join(cwd, `.env.${at}`), text)));
  await writeFile(join(cwd, '.env.huge'), text.repeat(4));
  expect(findSecrets({ env: {}, folder: cwd })).toHaveLength(2_500);
});
