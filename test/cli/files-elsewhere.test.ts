import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from 'skein/yaml';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, startOnTerminal, visible } from './support/terminal.js';

const STEPS = 'steps: [{ id: s, agent: a, prompt: hello }]\n';
const AGENT = '---\nname: a\nmodel: script/answers.yaml\ntools: []\n---\nYou work.\n';
const FILES = {
  'inner/flow.yaml': `name: t\nagents: { a: { file: ../a.agent.md } }\n${STEPS}`,
  'inner/answers.yaml': 'rules: [{ answers: [hello] }]\n',
  'inner/Agentfile': 'NAME t\nGOAL g FROM kept\nRUN main USING g\n',
  'inner/agent.toml': '[skills]\npaths = [".."]\n',
  'a.agent.md': AGENT,
  'kept/SKILL.md': '---\nname: kept\ndescription: all\n---\nDo it.\n',
};

/** A project in a folder, with files beside it. */
async function project() {
  const root = await makeProject(FILES);
  const cwd = join(root, 'inner');
  const go = (...words: readonly string[]) => served(words, { cwd, asks: true });
  return { root, cwd, go };
}

describe('a workflow with files outside of its project', () => {
  it('[T10] is not looked at before a yes to reading them; --trust is one for this once', async () => {
    const { go } = await project();
    for (const command of ['validate', 'plan', 'graph']) {
      const end = await go(command, 'flow.yaml');
      expect({ command, code: end.code }).toEqual({ command, code: 2 });
      expect(end.stderr).toMatch(
        /reads \S+\/a\.agent\.md \(file of the workflow\)\n {6}and what these files say: they are not read before a yes/,
      );
      expect(await go(command, 'flow.yaml', '--trust')).toMatchObject({ code: 0 });
    }
    expect(await go('convert', 'Agentfile')).toMatchObject({ code: 2, stdout: '' });
    expect((await go('convert', 'Agentfile', '--trust')).stdout).toContain('Do it.');
  });

  it('skein trust notes the yes to reading them and the yes to all that is found, and lists the file once', async () => {
    const { root, go } = await project();
    const part = await go('trust', 'flow.yaml');
    expect([part.code, part.stdout]).toEqual([2, expect.stringMatching(/reads \S+\/a\.agent\.md[^]*not read before/)]);
    const whole = await go('trust', 'flow.yaml', '--yes');
    expect([whole.code, whole.stdout]).toEqual([
      0,
      expect.stringMatching(/follows answers\.yaml[^]*reads \S+a\.agent/),
    ]);
    expect((await go('trust', '--list')).stdout.match(/flow\.yaml/g)).toHaveLength(1);
    expect(await go('run', 'flow.yaml', '--no-store', '--no-audit')).toMatchObject({ code: 0 });
    await writeFile(join(root, 'a.agent.md'), `${AGENT}More.\n`);
    expect((await go('run', 'flow.yaml')).stderr).toMatch(/follows answers\.yaml/);
    await go('trust', '--forget', 'flow.yaml');
    expect((await go('run', 'flow.yaml')).stderr).toContain('they are not read before a yes');
  });

  it('is loaded by a program without what that does not let it read', async () => {
    const { cwd, root } = await project();
    const mayRead = (path: string): boolean => path.startsWith(cwd);
    const codes = async (file: string) => (await loadWorkflow(file, { cwd, mayRead })).problems.map(({ code }) => code);
    expect([await codes('flow.yaml'), await codes('Agentfile')]).toEqual([['file-outside'], ['file-outside']]);
    expect((await loadWorkflow('flow.yaml', { cwd, mayRead: (path) => path.startsWith(root) })).problems).toEqual([]);
  });
});

const missing = noTerminal();
if (missing !== undefined) console.log(`questions on a terminal are not shown: ${missing}`);

describe.skipIf(missing !== undefined)('on a terminal', () => {
  it('[T10] reading them is asked about first, then all that is found; after that nothing is asked', async () => {
    const { cwd, go } = await project();
    const run = startOnTerminal(['run', 'flow.yaml', '--no-color', '--no-store', '--no-audit'], { cwd, asks: true });
    await run.seen('they are not read before a yes');
    await run.seen('trust it? (y/n) > ');
    run.child.stdin?.write('y\n');
    await run.seen('follows answers.yaml');
    run.child.stdin?.write('y\n');
    const end = await run.ended;
    expect({ code: end.code, asked: visible(end.stdout).match(/trust it\?/g)?.length }).toEqual({ code: 0, asked: 2 });
    expect(await go('run', 'flow.yaml', '--no-store', '--no-audit')).toMatchObject({ code: 0 });
  });
});
