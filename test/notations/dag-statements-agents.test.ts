import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDag } from '../../src/yaml.js';
import { brief, load, makeProject, nodeOf } from './project.js';

const ONE = (agent: string, head = ''): string => `name: t\n${head}steps: [{id: s, agent: ${agent}, prompt: p}]\n`;
const file = (name: string, body: string, more = ''): string => `---\nname: ${name}\n${more}---\n\n\n${body}`;

describe('agents of a workflow', () => {
  it('5: a file, or inline; neither is a problem', async () => {
    const workflow = await load(
      `name: t
agents:
  a: {file: a.agent.md}
  b: {inline: {description: d, prompt: p, tools: [grep], model: x/y}}
  c: {}
steps: [{id: s, agent: a, prompt: p}, {id: r, agent: b, prompt: p}]
`,
      { 'a.agent.md': file('other', 'Body.') },
    );
    expect(brief(workflow.problems)).toEqual(['5:6 error bad-agent']);
  });

  it('5: file wins over inline', async () => {
    const workflow = await load(ONE('a', 'agents: {a: {file: a.md, inline: {prompt: no}}}\n'), {
      'a.md': file('x', 'From the file.'),
    });
    expect(nodeOf(workflow, 's').agent.instructions).toEqual(['From the file.']);
    expect(brief(workflow.problems)).toEqual(['2:34 warning no-effect']);
  });

  it('15: an agent that is found nowhere is a problem, which names the nearest', async () => {
    const workflow = await load(ONE('crtic'), { '.github/agents/critic.agent.md': file('critic', 'x') });
    expect(brief(workflow.problems)).toEqual(['2:24 error unknown-agent']);
    expect(workflow.problems[0]?.hint).toBe('did you mean "critic"?');
  });

  it('51, 52: front matter between two lines ---, then the prompt; names, models and tools are read', async () => {
    const text =
      '---\r\nname: Critic\r\ndescription: d\r\nmodel: [m1, m2]\r\ntools: [read, "Grep, Bash"]\r\n---\r\n\r\nFind\r\nfaults.\r\n';
    const workflow = await load(ONE('Critic'), { '.github/agents/c.agent.md': text });
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent).toEqual({
      name: 'Critic',
      description: 'd',
      instructions: ['Find\nfaults.\n'],
      models: ['m1', 'm2'],
      tools: ['read', 'Grep', 'Bash'],
    });
  });

  it('approve, a key of Skein: tools whose calls a person must allow, written as tools are', async () => {
    const inFile = await load(ONE('a'), { '.github/agents/a.md': file('a', 'x', 'approve: "Bash, github/*"\n') });
    expect(inFile.problems).toEqual([]);
    expect(nodeOf(inFile, 's').agent.approve).toEqual(['Bash', 'github/*']);
    const inline = await load(ONE('a', 'agents: {a: {inline: {prompt: x, approve: [shell, edit]}}}\n'), {});
    expect(nodeOf(inline, 's').agent.approve).toEqual(['shell', 'edit']);
    const wrong = await load(ONE('a', 'agents: {a: {inline: {prompt: x, approve: {shell: yes}, aprove: [x]}}}\n'), {});
    expect(brief(wrong.problems)).toEqual(['2:43 error wrong-type', '2:57 error unknown-key']);
    expect(wrong.problems[1]?.hint).toBe('did you mean "approve"?');
  });

  it('52: the name is that of the file when none is given', async () => {
    const workflow = await load(ONE('solo'), { '.github/agents/solo.agent.md': '---\ndescription: d\n---\nHi' });
    expect(nodeOf(workflow, 's').agent.name).toBe('solo');
  });

  it('52, decision 10: keys of other systems that mean nothing to a workflow are left alone', async () => {
    const more =
      'agents: [x]\nhandoffs: [{label: l, agent: x}]\nargument-hint: h\nuser-invocable: false\ntarget: vscode\nmode: agent\n';
    const workflow = await load(ONE('a'), { '.github/agents/a.md': file('a', 'x', more) });
    expect(workflow.problems).toEqual([]);
  });

  it.each([
    ['hooks: {onPreToolUse: "touch ran"}', 'error', 3],
    ['disallowedTools: Bash, Write', 'error', 3],
    ['isolation: worktree', 'error', 3],
    ['permissionMode: plan', 'error', 3],
    ['mcpServers: [github]', 'error', 3],
    ['skills: [testing]', 'error', 3],
    ['memory: project', 'error', 3],
    ['permissionMode: acceptEdits', 'warning', 3],
    ['maxTurns: 5', 'warning', 3],
    ['mcp-servers: {x: {command: y, cwd: z}}', 'error', 3],
  ])('[XP2] %s of an agent file: %s, and leniently a warning', async (key, severity, line) => {
    const files = { '.github/agents/a.md': file('a', 'x', `${key}\n`) };
    const at = { file: '.github/agents/a.md', line };
    const { plan, problems } = await load(ONE('a'), files);
    expect(problems).toMatchObject([{ code: 'not-supported', severity, at }]);
    expect(plan === undefined).toBe(severity === 'error');
    const lenient = await load(ONE('a'), files, { lenient: true });
    expect(lenient.problems).toMatchObject([{ code: 'not-supported', severity: 'warning', at }]);
    expect(lenient.plan).toBeDefined();
  });

  it.each([
    'permissionMode: default',
    'color: blue',
    'model: inherit',
    'mcp-servers: {x: {command: y, disabled: true}}',
  ])('%s of an agent file is left alone', async (key) => {
    const workflow = await load(ONE('a'), { '.github/agents/a.md': file('a', 'x', `${key}\n`) });
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent.mcpServers ?? {}).toEqual({});
  });

  it('52: a model that is neither a name nor a list is a problem', async () => {
    const workflow = await load(ONE('a', 'agents: {a: {file: a.md}}\n'), { 'a.md': file('a', 'x', 'model: {x: 1}\n') });
    expect(workflow.problems).toMatchObject([
      { code: 'wrong-type', severity: 'error', at: { file: 'a.md', line: 3, column: 8 } },
    ]);
  });

  const PLACES = ['.github/agents', '.claude/agents', 'home/.copilot/agents', 'first', 'second'];
  it.each(PLACES.slice(0, -1).map((place, at) => [place, PLACES[at + 1] ?? '']))(
    '53: %s comes before %s',
    async (high, low) => {
      const cwd = await makeProject({
        'f.yaml': ONE('x', 'config: {agent_search_paths: [first, second]}\n'),
        [`${high}/one.md`]: file('x', 'high'),
        [`${low}/two.md`]: file('x', 'low'),
      });
      const workflow = await loadDag('f.yaml', { cwd, home: join(cwd, 'home') });
      // Said where one that came with the working directory hides one of the user's own.
      const hides = high.startsWith('.claude') ? ['agent-hides-another'] : [];
      expect(workflow.problems.map(({ code }) => code)).toEqual(hides);
      expect(nodeOf(workflow, 's').agent.instructions).toEqual(['high']);
    },
  );

  it('53: what the workflow declares comes before every folder', async () => {
    const workflow = await load(ONE('x', 'agents: {x: {inline: {prompt: mine}}}\n'), {
      '.github/agents/x.md': file('x', 'theirs'),
    });
    expect(nodeOf(workflow, 's').agent.instructions).toEqual(['mine']);
  });

  it('53: folders are not searched into, and other files do not count', async () => {
    const workflow = await load(ONE('x'), {
      '.github/agents/deep/x.md': file('x', 'deep'),
      '.github/agents/x.txt': file('x', 'text'),
    });
    expect(brief(workflow.problems)).toEqual(['2:24 error unknown-agent']);
  });

  it('53: an agent that was not found is told with those that were', async () => {
    const workflow = await load(ONE('x'), { '.github/agents/planner.agent.md': file('Planning mode', 'plan') });
    expect(workflow.problems.map((problem) => problem.hint)).toEqual([
      expect.stringMatching(/found are "Planning mode"$/),
    ]);
  });

  it('53: the home directory is looked at only when it is given', async () => {
    const cwd = await makeProject({ 'f.yaml': ONE('x'), 'home/.copilot/agents/x.md': file('x', 'home') });
    expect((await loadDag('f.yaml', { cwd })).plan).toBeUndefined();
    expect((await loadDag('f.yaml', { cwd, home: join(cwd, 'home') })).plan).toBeDefined();
  });

  it('54, decision 10: a file that is no agent is skipped with a warning, and front matter never runs code', async () => {
    const workflow = await load(ONE('x'), {
      '.github/agents/README.md': '# Agents\n',
      '.github/agents/broken.md': '---\nname: [1, }\n---\nx',
      '.github/agents/script.md': '---js\nthrow new Error("ran")\n---\nx',
      '.github/agents/x.md': file('x', 'fine'),
    });
    expect(workflow.plan).toBeDefined();
    expect(workflow.problems.map(({ code, at }) => [code, at?.file, at?.line])).toEqual([
      ['agent-skipped', '.github/agents/README.md', 1],
      ['agent-skipped', '.github/agents/broken.md', 2],
      ['agent-skipped', '.github/agents/script.md', 1],
    ]);
  });

  it('55: a file is relative to the workflow file, and the agent gets the name in the workflow', async () => {
    const cwd = await makeProject({
      'flows/deep/f.yaml': ONE('mine', 'agents: {mine: {file: ../../agents/a.md}}\n'),
      'agents/a.md': file('theirs', 'Body.'),
    });
    const workflow = await loadDag('flows/deep/f.yaml', { cwd });
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent).toMatchObject({ name: 'mine', instructions: ['Body.'] });
    expect(workflow.files.map((source) => source.path)).toEqual([
      join(cwd, 'flows/deep/f.yaml'),
      join(cwd, 'agents/a.md'),
    ]);
  });

  it('55: search paths are relative to the working directory; ~ is the home directory', async () => {
    const cwd = await makeProject({
      'flows/f.yaml': ONE('x', 'config: {agent_search_paths: [~/mine]}\n'),
      'house/mine/x.md': file('x', 'found'),
    });
    const workflow = await loadDag('flows/f.yaml', { cwd, home: join(cwd, 'house') });
    expect(nodeOf(workflow, 's').agent.instructions).toEqual(['found']);
  });

  it.each([
    ['Read, Grep', ['Read', 'Grep']],
    ['Read', ['Read']],
    ['Bash(git add, git commit), Read', ['Bash(git add, git commit)', 'Read']],
    ['"*"', ['*']],
    ['[]', []],
    ['[a, b, a]', ['a', 'b']],
  ])("56, 57: tools: %s, in Claude's form or as a list", async (written, tools) => {
    const workflow = await load(ONE('x'), { '.claude/agents/x.md': file('x', 'b', `tools: ${written}\n`) });
    expect(workflow.problems.filter(({ code }) => code !== 'unknown-tools')).toEqual([]);
    expect(nodeOf(workflow, 's').agent.tools).toEqual(tools);
  });

  it('58, 100: tools left out and an empty list are two things (decision 14)', async () => {
    const workflow = await load(
      'name: t\nagents: {a: {inline: {}}, b: {inline: {tools: []}}}\nsteps: [{id: s, agent: a, prompt: p}, {id: r, agent: b, prompt: p}]\n',
    );
    expect(nodeOf(workflow, 's').agent).not.toHaveProperty('tools');
    expect(nodeOf(workflow, 'r').agent.tools).toEqual([]);
  });

  it('99: MCP servers of an agent, over stdio and HTTP', async () => {
    const servers = `mcp-servers:
  db-tools: {command: docker, args: ["run", "--rm", "db:latest"], env: {DB_PORT: 5432}, tools: ["*"]}
  web: {type: http, url: "https://example.com/mcp", headers: {Authorization: "Bearer $T"}}
`;
    const workflow = await load(ONE('x'), { '.github/agents/x.md': file('x', 'b', servers) });
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').agent.mcpServers).toEqual({
      'db-tools': { command: 'docker', args: ['run', '--rm', 'db:latest'], env: { DB_PORT: '5432' }, tools: ['*'] },
      web: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer $T' } },
    });
  });

  it.each([
    ['{}', 'mcp-server'],
    ['{type: http, url: "file:///etc/passwd"}', 'mcp-server'],
    ['{type: carrier-pigeon, command: x}', 'unknown-value'],
    ['{command: x, args: all}', 'wrong-type'],
    ['{command: x, env: {A: [1]}}', 'wrong-type'],
    ['just text', 'wrong-type'],
  ])('99: an MCP server %s is a problem', async (written, code) => {
    const workflow = await load(ONE('a', 'agents: {a: {file: a.md}}\n'), {
      'a.md': file('a', 'x', `mcp-servers: {s: ${written}}\n`),
    });
    expect(workflow.problems).toMatchObject([{ code, severity: 'error', at: { file: 'a.md', line: 3 } }]);
  });

  it('104: a declared file without front matter is a problem at its first line', async () => {
    const workflow = await load(ONE('a', 'agents: {a: {file: a.md}}\n'), { 'a.md': 'Just text.\n' });
    expect(workflow.problems).toMatchObject([{ code: 'no-front-matter', at: { file: 'a.md', line: 1, column: 1 } }]);
  });
});

describe('skills', () => {
  const SKILL = '---\nname: secrets\ndescription: d\n---\n\nLook for keys.\n';

  it('are files or folders with SKILL.md, of the workflow and of steps, each once', async () => {
    const workflow = await load(
      `name: t
agents: {a: {inline: {}}}
skills: [skills/secrets]
steps:
  - {id: s, agent: a, prompt: p, skills: [skills/secrets/SKILL.md, notes.md]}
  - {id: r, agent: a, prompt: p}
`,
      { 'skills/secrets/SKILL.md': SKILL, 'notes.md': 'No head.\n' },
    );
    expect(workflow.problems).toEqual([]);
    const secrets = { name: 'secrets', text: 'Look for keys.\n' };
    expect(nodeOf(workflow, 's').agent.skills).toEqual([secrets, { name: 'notes', text: 'No head.\n' }]);
    expect(nodeOf(workflow, 'r').agent.skills).toEqual([secrets]);
  });

  it.each(['flows/deep', 'more/deep', '.github/skills/deep', '.claude/skills/deep'])(
    'are looked for in %s',
    async (folder) => {
      const cwd = await makeProject({
        'flows/f.yaml':
          'name: t\nagents: {a: {inline: {}}}\nsteps: [{id: s, agent: a, prompt: p, skills: [deep], extra_dirs: [more]}]\n',
        [`${folder}/SKILL.md`]: 'Text.',
      });
      const workflow = await loadDag('flows/f.yaml', { cwd });
      expect(workflow.problems).toEqual([]);
      expect(nodeOf(workflow, 's').agent.skills).toEqual([{ name: 'deep', text: 'Text.' }]);
    },
  );

  it('that are missing are a problem', async () => {
    const workflow = await load(
      'name: t\nskills: [nope]\nagents: {a: {inline: {}}}\nsteps: [{id: s, agent: a, prompt: p}]\n',
    );
    expect(brief(workflow.problems)).toEqual(['2:10 error file-missing']);
  });
});
