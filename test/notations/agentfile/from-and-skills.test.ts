import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '../../../src/yaml.js';
import { makeProject } from '../project.js';
import { agentfile, agentsIn, loadAgentfile, problemsIn, told } from './agentfiles.js';

const SKILL = `---
name: testing
description: Use it for tests.
---

# Tests

Run \`echo $HOME\` first.
`;

describe('FROM', () => {
  it('[D4] a Markdown file is a prompt, of agents and of goals, in which $names count', async () => {
    const files = { 'agents/critic.md': '\uFEFFYou criticise\r\n$topic.\n', 'goals/read.md': 'Read about $topic.\n' };
    const workflow = await loadAgentfile(
      agentfile('INPUT topic\nAGENT c FROM agents/critic.md\nGOAL a FROM goals/read.md USING c'),
      files,
    );
    expect(told(workflow)).toEqual([]);
    const { 'a/c': critic } = agentsIn(workflow);
    expect(JSON.stringify(critic?.instructions)).toMatch(/You criticise\\n.*topic/);
    expect(JSON.stringify(workflow.plan)).toContain('Read about ');
    expect(workflow.files.map(({ path }) => path.split('/').slice(-2).join('/'))).toEqual(
      expect.arrayContaining(['agents/critic.md', 'goals/read.md']),
    );
  });

  it('[D4] a folder with SKILL.md is a skill: description and text, whose $ are text', async () => {
    const workflow = await loadAgentfile(agentfile('AGENT c FROM skills/testing\nGOAL a "A." USING c'), {
      'skills/testing/SKILL.md': SKILL,
    });
    expect(told(workflow)).toEqual([]);
    expect(agentsIn(workflow)['a/c']?.instructions).toEqual([
      'Use it for tests.\n\n# Tests\n\nRun `echo $HOME` first.',
    ]);
  });

  it('[D4] scripts and references beside a skill are told to the agent, which may read them; allowed-tools narrows its tools', async () => {
    const allowed = 'allowed-tools: Read, grep web_fetch Bash(git:*)\n---\n';
    const workflow = await loadAgentfile(
      agentfile('AGENT c FROM skills/testing\nAGENT d "D."\nGOAL a "A." USING c, d'),
      {
        'skills/testing/SKILL.md': SKILL.replace('---\n\n', allowed),
        'skills/testing/scripts/run.sh': 'true\n',
        'skills/testing/references/R.md': 'R\n',
      },
      { tools: ['bash', 'write'] },
    );
    expect(told(workflow)).toEqual([
      '2:14 warning not-supported: the skill "testing" is not given Bash(git:*): rules for arguments are not supported (allow the tool without a rule)',
    ]);
    const { 'a/c': narrow, 'a/d': wide } = agentsIn(workflow);
    expect(narrow?.tools).toEqual(['read_file', 'grep']);
    expect(wide?.tools).toEqual(['read_file', 'list_dir', 'glob', 'grep', 'bash', 'Write']);
    expect(narrow?.extraDirs).toEqual(['skills/testing']);
    expect(JSON.stringify(narrow?.instructions)).toContain(
      'The skill testing has scripts in skills/testing/scripts, and references in skills/testing/references.',
    );
  });

  it('[D4] a bare name is looked for beside the file, then in the folders of skills, in order', async () => {
    const files = {
      'own/SKILL.md': SKILL.replace('Use it', 'Own'),
      'one/testing/SKILL.md': SKILL.replace('Use it', 'One'),
      'two/testing/SKILL.md': SKILL.replace('Use it', 'Two'),
      'two/other/SKILL.md': SKILL.replace('Use it', 'Other'),
      'agent.toml': '[skills]\npaths = ["./none", "one", "./two"]\n',
    };
    const workflow = await loadAgentfile(
      agentfile('AGENT a FROM own\nAGENT b FROM testing\nAGENT c FROM other\nGOAL g "G." USING a, b, c', 'g'),
      files,
    );
    const starts = Object.values(agentsIn(workflow)).map(
      ({ instructions }) => JSON.stringify(instructions[0]).split(' ')[0],
    );
    expect(starts).toEqual(['"Own', '"One', '"Other', expect.any(String)]);
    const home = await makeProject({ 'mine/testing/SKILL.md': SKILL });
    const fromHome = await loadAgentfile(
      agentfile('AGENT b FROM testing\nGOAL g "G." USING b', 'g'),
      { 'agent.toml': '[skills]\npaths = ["~/mine"]\n' },
      { home },
    );
    expect(told(fromHome)).toEqual([]);
  });

  it.each([
    ['another Agentfile', 'other.agent', 'from-kind: "other.agent" is an Agentfile: FROM can\'t use it'],
    [
      'another kind of file',
      'notes.txt',
      'from-kind: "notes.txt" is not a prompt in Markdown or a skill: FROM can\'t use it',
    ],
    [
      'a file that is not there',
      'agents/critik.md',
      'file-missing: the prompt agents/critik.md does not exist (did you mean agents/critic.md?)',
    ],
    [
      'a folder without SKILL.md',
      'agents',
      'file-missing: SKILL.md of "agents" does not exist (a skill is a folder with a file SKILL.md)',
    ],
    [
      'a name that nothing has',
      'nothing',
      'file-missing: there is no skill "nothing" (looked for a folder of that name in ., skills)',
    ],
    ['a path that leads out', '../outside.md', 'from-outside: "../outside.md" lies outside of the folder of the file'],
    [
      'a path that leads out from within',
      'agents/../../outside.md',
      'from-outside: "agents/../../outside.md" lies outside of the folder of the file',
    ],
    ['an absolute path', '/etc/passwd.md', 'from-outside: "/etc/passwd.md" lies outside of the folder of the file'],
    ['a path at home', '~/x.md', 'from-outside: "~/x.md" lies outside of the folder of the file'],
    ['an empty prompt', 'empty.md', 'no-prompt: agent c: prompt is required'],
    ['a skill without a description', 'bare', 'skill-form: the skill "bare" needs a name and a description'],
  ])('[D4] [bad input] %s is refused', async (_, path, problem) => {
    const files = {
      'agents/critic.md': 'C.',
      'other.agent': 'GOAL a "A."',
      'notes.txt': 'N.',
      'empty.md': '\n',
      'bare/SKILL.md': '---\nname: bare\n---\nText.',
    };
    const workflow = await loadAgentfile(agentfile(`AGENT c FROM ${path}\nGOAL a "A." USING c`), files);
    expect(told(workflow).join('\n')).toContain(`error ${problem}`);
    expect(workflow.plan).toBeUndefined();
  });

  it('[D4] [bad input] links that lead out of the folder are not followed: files, folders, and in folders of skills', async () => {
    const outside = await makeProject({ 'secret.md': 'Secret.', 'skill/SKILL.md': SKILL, 'SKILL.md': SKILL });
    const text = agentfile(
      'AGENT a FROM link.md\nAGENT b FROM skill\nAGENT c FROM evil\nAGENT d FROM half\nAGENT e FROM in.md\nGOAL g "G." USING a, b, c, d, e',
      'g',
    );
    const cwd = await makeProject({ Agentfile: text, 'here.md': 'Here.', 'half/x': '' });
    await mkdir(join(cwd, 'skills'));
    await symlink(join(outside, 'secret.md'), join(cwd, 'link.md'));
    await symlink(join(outside, 'skill'), join(cwd, 'skill'));
    await symlink(join(outside, 'skill'), join(cwd, 'skills', 'evil'));
    await symlink(join(outside, 'SKILL.md'), join(cwd, 'half', 'SKILL.md'));
    await symlink('here.md', join(cwd, 'in.md'));
    const workflow = await loadWorkflow('Agentfile', { cwd });
    const lines = told(workflow);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['2:14', '3:14', '4:14', '5:14']);
    expect(lines[0]).toContain('lies outside of the folder');
    expect(lines.join('\n')).not.toContain('Secret');
  });

  it('[bad input] a prompt that is no text, or too large, is a problem', async () => {
    const cwd = await makeProject({ Agentfile: agentfile('GOAL a FROM big.md\nGOAL b FROM bytes.md', 'a, b') });
    await writeFile(join(cwd, 'big.md'), 'x'.repeat(4_100_000));
    await writeFile(join(cwd, 'bytes.md'), Buffer.from([0, 1, 255]));
    const lines = told(await loadWorkflow('Agentfile', { cwd }));
    expect(lines).toEqual([
      expect.stringMatching(/^2:13 error file-too-large/),
      expect.stringMatching(/^3:13 error file-binary/),
    ]);
  });

  it('texts of files that name missing tools, or values in the old way, are warned of too', async () => {
    const problems = await problemsIn(agentfile('INPUT topic\nGOAL a FROM a.md'), {
      'a.md': 'Use web_search on {{topic}} and $topic.',
    });
    expect(problems.map((line) => line.split(':').slice(0, 2).join(':'))).toEqual([
      '3:13 warning missing-tool',
      '3:13 warning old-reference',
    ]);
  });
});
