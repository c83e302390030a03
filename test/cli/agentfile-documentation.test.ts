import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { docSnippets } from '../examples/support/snippets.js';
import { ROOT, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const SNIPPETS = (await docSnippets()).filter(({ place }) => place.startsWith('docs/agentfile.md'));

describe('docs/agentfile.md', () => {
  it.each(SNIPPETS.filter(({ language }) => language === 'agentfile'))(
    '$place is valid, and runs',
    async ({ text }) => {
      const cwd = await makeProject({ Agentfile: text });
      const { code, stdout, stderr } = await served(['validate', 'Agentfile'], { cwd });
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Agentfile is valid\n', stderr: '' });
      const inputs = [...text.matchAll(/^INPUT (\w+)$/gm)].flatMap(([, name]) => ['--input', `${name ?? ''}=x`]);
      const run = await served(['run', 'Agentfile', '--mock', ...inputs], { cwd });
      expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: text.includes('HUMAN') ? 5 : 0 });
    },
  );

  it.each(SNIPPETS.filter(({ language }) => language === 'toml'))('$place is taken', async ({ text }) => {
    const name = text.includes('default_deny') ? 'policy.toml' : 'agent.toml';
    const cwd = await makeProject({ Agentfile: 'NAME t\nGOAL a "A."\nRUN r USING a\n', [name]: text });
    const { code, stderr } = await served(['validate', 'Agentfile'], { cwd });
    expect({ code, errors: stderr.includes('error') }).toEqual({ code: 0, errors: false });
  });
});

describe('the example press-release', () => {
  it('[issue 14] does what its README shows: a plan, a run until a person is asked, an answer, the rest, the code', async () => {
    const cwd = await makeProject();
    await cp(join(ROOT, 'examples/press-release'), join(cwd, 'examples/press-release'), { recursive: true });
    const readme = readFileSync(join(ROOT, 'examples/press-release/README.md'), 'utf8');
    const commands = [...readme.matchAll(/^skein (.+)$/gm)].map(([, line = '']) =>
      [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare),
    );
    const ends = [];
    for (const words of commands) ends.push(await served(words, { cwd }));
    expect(ends.map(({ code }) => code)).toEqual([0, 5, 0, 0, 0]);
    const [plan, run, , resumed, code] = ends;
    expect(plan?.stdout).toContain('tools: read_file, list_dir, glob, grep (by default: they only read)');
    expect(run?.stderr).toContain('Review this step');
    expect(resumed?.stdout).toContain('FOR RELEASE: A loom that folds. It weighs 9 kg.');
    expect(code?.stdout).toContain("const goal_polish = convergence('polish', ");
  });
});
