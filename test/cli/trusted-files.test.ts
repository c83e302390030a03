import { appendFile, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: t
agents: { a: { file: a.agent.md }, b: { inline: { prompt: p, model: script/answers.yaml, tools: [] } } }
steps: [{ id: s, agent: a, prompt: hello }, { id: u, agent: b, prompt: hello }]
`;
const AGENT = `---
name: a
tools: [kit/*]
mcp-servers: { kit: { command: node, args: [kit/server.js, --config=kit/settings.json] } }
---
You work.
`;
const FILES = {
  'flow.yaml': FLOW,
  'a.agent.md': AGENT,
  'kit/server.js': 'process.exit(1);\n',
  'kit/settings.json': '{}\n',
  'answers.yaml': 'rules: []\n',
  'other.md': 'nothing\n',
};
const NOTES = 'home/.local/state/skein/trusted';

const isTrusted = async (cwd: string): Promise<boolean> =>
  (await served(['validate', 'flow.yaml', '--powers'], { cwd })).stdout.startsWith('flow.yaml is trusted as it is\n');

describe('skein trust', () => {
  it('[T10] without a terminal lists what the file can do, says what to do, and notes nothing', async () => {
    const cwd = await makeProject(FILES);
    const end = await served(['trust', 'flow.yaml'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stdout).toContain('starts node kit/server.js');
    expect(end.stderr).toContain('skein trust flow.yaml --yes');
    expect(await isTrusted(cwd)).toBe(false);
    expect(await filesIn(cwd)).not.toContain('home');
  });

  it('[T10] shows characters that have no width, or look like a space, as escapes', async () => {
    const agent = AGENT.replace('kit/server.js', String.raw`"kit/ser\u200bver\u3164.js", "\u2028\u00a0\u202ex"`);
    const { stdout } = await served(['trust', 'flow.yaml'], {
      cwd: await makeProject({ ...FILES, 'a.agent.md': agent }),
    });
    expect(stdout).toContain(String.raw`kit/ser\u{200b}ver\u{3164}.js`);
    expect(stdout).not.toMatch(/[\u200b\u2028\u00a0\u202e\u3164]/);
  });

  it('[T10] notes a yes in a folder of the user, for the user alone, and nothing in the project', async () => {
    const cwd = await makeProject(FILES);
    const before = (await filesIn(cwd)).filter((name) => !name.startsWith('home'));
    expect(await served(['trust', 'flow.yaml', '--yes'], { cwd })).toMatchObject({ code: 0 });
    expect(await isTrusted(cwd)).toBe(true);
    expect((await filesIn(cwd)).filter((name) => !name.startsWith('home'))).toEqual(before);
    const [name = ''] = await readdir(join(cwd, NOTES));
    expect((await stat(join(cwd, NOTES, name))).mode & 0o777).toBe(0o600);
    expect((await stat(join(cwd, NOTES))).mode & 0o777).toBe(0o700);
    expect(await served(['trust', 'flow.yaml'], { cwd })).toMatchObject({ code: 0 });
  });

  it.each([['flow.yaml'], ['a.agent.md'], ['kit/server.js'], ['kit/settings.json'], ['answers.yaml']])(
    '[T10] one changed byte of %s asks again; the file as it was is still trusted',
    async (name) => {
      const cwd = await makeProject(FILES);
      await served(['trust', 'flow.yaml', '--yes'], { cwd });
      const text = await readFile(join(cwd, name), 'utf8');
      await appendFile(join(cwd, name), '\n');
      expect(await isTrusted(cwd)).toBe(false);
      await writeFile(join(cwd, name), text);
      expect(await isTrusted(cwd)).toBe(true);
    },
  );

  it('does not ask again because of a file that the workflow has nothing to do with', async () => {
    const cwd = await makeProject(FILES);
    await served(['trust', 'flow.yaml', '--yes'], { cwd });
    await appendFile(join(cwd, 'other.md'), 'more');
    expect(await isTrusted(cwd)).toBe(true);
  });

  it.each([
    ['a program text longer than a name can be', 'sh, -c, "' + 'echo hello; '.repeat(30) + '"'],
    ['a link that leads to itself', 'cat, loop/x'],
    ['a NUL character', String.raw`echo, "a\0b"`],
  ])('a word of a command that names no file changes nothing: %s', async (_, words) => {
    const steps = `steps: [{ id: s, agent: a, prompt: hello }, { id: r, run: [${words}] }]`;
    const flow = FLOW.replace(/steps: .*/, steps).replace(/, b: .* }/, ' }');
    const cwd = await makeProject({ ...FILES, 'flow.yaml': flow });
    await symlink('loop', join(cwd, 'loop'));
    expect(await served(['trust', 'flow.yaml', '--yes'], { cwd })).toMatchObject({ code: 0 });
    expect(await isTrusted(cwd)).toBe(true);
    await appendFile(join(cwd, 'kit/server.js'), '\n');
    expect(await isTrusted(cwd)).toBe(false);
  });

  it('[T10] the same files elsewhere are others', async () => {
    const [one, other] = [await makeProject(FILES), await makeProject(FILES)];
    await served(['trust', 'flow.yaml', '--yes'], { cwd: one });
    const end = await served(['validate', 'flow.yaml', '--powers'], { cwd: other, env: { HOME: join(one, 'home') } });
    expect(end.stdout).toContain('flow.yaml is not trusted');
  });

  it('[T10] what lies in the project about trust counts nothing', async () => {
    const notes = { '.local/state/skein/trusted/x': '{}', 'skein/trusted/x': '{}', '.env': 'SKEIN_TRUST=1\n' };
    const cwd = await makeProject({ ...FILES, ...notes });
    expect(await isTrusted(cwd)).toBe(false);
  });

  it('a module is trusted with the modules that it imports, from whatever folder it is named, and none of them runs', async () => {
    const plant = 'import { writeFileSync } from "node:fs";\nwriteFileSync("planted", "");\n';
    const cwd = await makeProject({ 'flow.ts': `import "./part.js";\n${plant}export default 1;\n`, 'part.ts': plant });
    expect(await served(['trust', 'flow.ts', '--yes'], { cwd })).toMatchObject({ code: 0 });
    const look = async () => (await served(['validate', 'flow.ts', '--powers'], { cwd })).stdout;
    expect(await look()).toContain('flow.ts is trusted as it is');
    const below = { cwd: join(cwd, 'home'), env: { HOME: join(cwd, 'home') } };
    const fromElsewhere = await served(['validate', '../flow.ts', '--powers'], below);
    expect(fromElsewhere.stdout).toContain('../flow.ts is trusted as it is');
    await appendFile(join(cwd, 'part.ts'), '\n');
    expect(await look()).toContain('flow.ts is not trusted');
    expect(await filesIn(cwd)).not.toContain('planted');
  });

  it('--list names the files, --forget takes a yes back', async () => {
    const cwd = await makeProject(FILES);
    expect((await served(['trust', '--list'], { cwd })).stderr).toContain('you trust no file yet');
    await served(['trust', 'flow.yaml', '--yes'], { cwd });
    expect((await served(['trust', '--list'], { cwd })).stdout).toContain(join(cwd, 'flow.yaml'));
    const { files } = JSON.parse((await served(['trust', '--list', '--json'], { cwd })).stdout) as { files: object[] };
    expect(files).toEqual([expect.objectContaining({ file: join(cwd, 'flow.yaml') })]);
    const forgotten = await served(['trust', '--forget', 'flow.yaml', '--json'], { cwd });
    expect({ ...(JSON.parse(forgotten.stdout) as object), code: forgotten.code }).toEqual({
      file: 'flow.yaml',
      trusted: false,
      code: 0,
    });
    expect(await isTrusted(cwd)).toBe(false);
    expect((await served(['trust', '--forget', 'flow.yaml'], { cwd })).code).toBe(1);
  });

  it('a file that is not valid is not trusted: its problems are printed', async () => {
    const cwd = await makeProject({ 'flow.yaml': 'name: t\nsteps: [{ id: s }]\n' });
    const end = await served(['trust', 'flow.yaml', '--yes'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('flow.yaml:2');
    expect((await served(['trust', '--list'], { cwd })).stdout).toBe('');
  });

  it.each([[[]], [['flow.yaml', '--list']], [['--list', '--forget', 'flow.yaml']]])(
    'takes one thing at a time: %j',
    async (words) => {
      const cwd = await makeProject(FILES);
      const end = await served(['trust', ...words], { cwd });
      expect(end.code).toBe(1);
      expect(end.stderr).toContain('trust takes one of: a file, --list, --forget');
    },
  );
});
