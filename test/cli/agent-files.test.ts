import { describe, expect, it } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: review
config: { agent_search_paths: [mine] }
steps:
  - { id: look, agent: critic, prompt: Look. }
`;

function agent(name: string, description = 'looks'): string {
  return `---\nname: ${name}\ndescription: ${description}\ntools: []\n---\nYou look.\n`;
}

describe('[XS3] which file an agent came from', () => {
  it.each([
    [
      'the user’s own',
      { 'home/.copilot/agents/critic.agent.md': agent('critic') },
      'home/.copilot/agents/critic.agent.md',
    ],
    ['one of agent_search_paths', { 'mine/c.md': agent('critic') }, 'mine/c.md'],
  ])('is said by validate, plan and run, with a warning when it hides %s', async (_, other, shown) => {
    const cwd = await makeProject({ 'flow.yaml': FLOW, '.github/agents/c.md': agent('critic'), ...other });
    const from = 'agent critic: .github/agents/c.md';
    const warning = `is taken from .github/agents/c.md and hides ${shown}`;
    for (const args of [
      ['validate', 'flow.yaml'],
      ['plan', 'flow.yaml'],
      ['run', 'flow.yaml', '--mock'],
    ]) {
      const end = await served(args, { cwd });
      expect([args[0], end.code]).toEqual([args[0], 0]);
      expect(end.stderr).toContain(warning);
      expect(end.stdout + end.stderr).toContain(from);
    }
    const json = await served(['validate', 'flow.yaml', '--json'], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ files: [{ agentFiles: { critic: '.github/agents/c.md' } }] });
    const plan = await served(['plan', 'flow.yaml', '--json'], { cwd });
    expect(JSON.parse(plan.stdout)).toMatchObject({ agentFiles: { critic: '.github/agents/c.md' } });
  });

  it('warns of one that lies beside the workflow', async () => {
    const cwd = await makeProject({
      'flows/flow.yaml': FLOW,
      'flows/agents/critic.agent.md': agent('critic'),
      '.claude/agents/critic.md': agent('critic'),
    });
    const { stderr, stdout } = await served(['validate', 'flows/flow.yaml'], { cwd });
    expect(stderr).toContain('is taken from .claude/agents/critic.md and hides flows/agents/critic.agent.md');
    expect(stdout).toContain('is valid');
  });

  it('says nothing of agents that no step uses, and of the user’s own that hides nothing', async () => {
    const cwd = await makeProject({
      'flow.yaml': FLOW,
      'home/.copilot/agents/critic.md': agent('critic'),
      '.github/agents/x.md': agent('other'),
      'mine/x.md': agent('other'),
    });
    const { stderr, code } = await served(['validate', 'flow.yaml'], { cwd });
    expect([code, stderr.trim()]).toEqual([0, 'agent critic: home/.copilot/agents/critic.md']);
  });
});

describe('[XD3] an agent file whose head is no YAML', () => {
  it('is read line by line, with a warning', async () => {
    const text = agent('critic', 'Use it when: the user asks. Example: "look": done # always').replace(
      'tools: []',
      '  Context: more of it\ntools: Read, Grep\ncolor: red: blue\nmcp-servers:\n  t: { command: node }',
    );
    const cwd = await makeProject({ 'flow.yaml': FLOW, '.claude/agents/critic.md': text });
    const end = await served(['plan', 'flow.yaml', '--json'], { cwd });
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('critic.md:3:')]);
    expect(JSON.parse(end.stdout)).toMatchObject({
      problems: [{ code: 'front-matter', severity: 'warning' }],
      steps: [{ agent: 'critic', tools: ['Read', 'Grep'], system: 'You look.\n' }],
    });
  });

  it('that can’t be read so either is named where its agent is not found', async () => {
    const text = '---\nname: critic\ntools: [a, b\n---\nYou look.\n';
    const cwd = await makeProject({ 'flow.yaml': FLOW, '.claude/agents/critic.md': text });
    const { code, stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/"critic", which was not found: \.claude\/agents\/critic\.md is skipped: /);
  });

  it('keeps what makes it safer: a key that is not supported is an error all the same', async () => {
    const text = agent('critic', 'Use it: always').replace('tools: []', 'disallowedTools: Bash, Write');
    const cwd = await makeProject({ 'flow.yaml': FLOW, '.claude/agents/critic.md': text });
    const { code, stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('disallowedTools')]);
  });
});

describe('a tool that does not exist', () => {
  const head = '---\nname: critic\ntools:\n  - read_file\n  - raed_file\n---\nYou look.\n';
  const said = '5:5: warning unknown-tools: agent critic: Skein has no tool for "raed_file"';
  const hint = 'hint: did you mean "read_file"?';

  it.each([
    ['found in a folder', { 'flow.yaml': FLOW, '.claude/agents/critic.md': head }, '.claude/agents/critic.md'],
    [
      'named by the workflow',
      {
        'flow.yaml': FLOW.replace('config:', 'agents: { critic: { file: my.agent.md } }\nconfig:'),
        'my.agent.md': head,
      },
      'my.agent.md',
    ],
    [
      'of a called workflow',
      {
        'flow.yaml': 'name: outer\nsteps:\n  - { id: inner, type: call, file: inner.yaml }\n',
        'inner.yaml': FLOW,
        '.github/agents/critic.agent.md': head,
      },
      '.github/agents/critic.agent.md',
    ],
  ])('is told with its line in the file of an agent %s', async (_, files, file) => {
    const cwd = await makeProject(files);
    const { stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect(stderr).toContain(`${file}:${said}`);
    expect(stderr).toContain(hint);
  });

  it.each([
    ['mcp__tickets__search', 'hint: declare the MCP server "tickets" for the agent'],
    ['Bash(git log:*)', 'hint: name "Bash" without the brackets, and write a policy'],
  ])('because Claude Code would take it from elsewhere: %s', async (tool, advice) => {
    const critic = `---\nname: critic\ntools: Read, ${tool}\nmodel: inherit\n---\nYou look.\n`;
    const cwd = await makeProject({ 'flow.yaml': FLOW, '.claude/agents/critic.md': critic });
    const { stdout, stderr } = await served(['plan', 'flow.yaml'], { cwd });
    expect(stderr).toContain(advice);
    expect(stdout).toContain('(agent critic; model of the environment; tools Read');
  });

  it('of an inline agent is told with its line in the workflow', async () => {
    const text = `name: f\nagents:\n  w:\n    inline: { prompt: Write., tools: [grep, raed_file] }\nsteps:\n  - { id: a, agent: w, prompt: Hi }\n`;
    const cwd = await makeProject({ 'flow.yaml': text });
    const { stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect(stderr).toContain('flow.yaml:4:45: warning unknown-tools');
  });
});
