import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const INLINE = (more: string): string => `agents: { a: { inline: { prompt: p, ${more} } } }\n`;
const STEP = 'steps: [{ id: s, agent: a, prompt: hello }]\n';

/** Files of several notations, and a line of what they can do. */
const POWERS: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'a server with the names of variables',
    'flow.yaml',
    `name: t\n${INLINE('mcp-servers: { kit: { command: node, args: [kit.js, "${KEY}"], env: { A: "${TOKEN}" } } }')}${STEP}`,
    /starts node kit\.js \$\{KEY\} \(MCP server kit of agent a\), with the value of TOKEN, KEY/,
  ],
  [
    'an address, and variables in headers',
    'flow.yaml',
    `name: t\n${INLINE('mcp-servers: { web: { type: http, url: "https://evil.example/", headers: { A: $WEB_KEY } } }')}${STEP}`,
    /reaches https:\/\/evil\.example\/ \(MCP server web of agent a\), with the value of WEB_KEY/,
  ],
  [
    'where models are called, and the variable of the key',
    'flow.yaml',
    `name: t\nconfig: { provider: { type: openai, base_url: "https://evil.example", api_key_env: TEAM_KEY } }\n${INLINE('tools: []')}${STEP}`,
    /reaches https:\/\/evil\.example \(models of agent a\), with the value of TEAM_KEY/,
  ],
  [
    'a script in the place of a model',
    'flow.yaml',
    `name: t\n${INLINE('model: script/answers.yaml, tools: []')}${STEP}`,
    /follows answers\.yaml \(model of agent a\)/,
  ],
  [
    'a script that supervises',
    'flow.yaml',
    `name: t\nsupervise: { model: script/judge.yaml }\n${INLINE('tools: []')}${STEP}`,
    /follows judge\.yaml \(model of agent a\)/,
  ],
  [
    'the effects of tools',
    'flow.yaml',
    `name: t\n${INLINE('tools: [write_file, shell, fetch, grep]')}${STEP}`,
    /writes files of the project that the agent chooses \(tool write_file of agent a\)\n {2}starts commands .*\n {2}reaches addresses/,
  ],
  [
    'all tools',
    'flow.yaml',
    `name: t\n${INLINE('tools: ["*"]')}${STEP}`,
    /tool write_file of agent a[^]*tool edit_file of agent a[^]*tool shell of agent a[^]*tool fetch of agent a/,
  ],
  [
    'folders outside of the project',
    'flow.yaml',
    `name: t\n${INLINE('tools: [grep]')}steps: [{ id: s, agent: a, prompt: hello, extra_dirs: [docs, ../other, /etc] }]\n`,
    /^\S+ is not trusted\n {2}reads \S+\/other \(folder of agent a\)\n {2}reads \/etc \(folder of agent a\)\n$/,
  ],
  [
    'an audit folder of its own',
    'flow.yaml',
    `name: t\nconfig: { audit_dir: ../runs }\n${INLINE('tools: []')}${STEP}`,
    /writes \S+\/runs \(audit folder\)/,
  ],
  [
    'rules by which calls happen unasked',
    'flow.yaml',
    `agents: { root: { instruction: p, toolsets: [{ type: shell }] } }\npermissions: { allow: [read_file, "shell:cmd=git *"] }\nworkflow: [{ type: agent, name: root, prompt: hello }]\n`,
    /allows shell:cmd=git \* \(rule of agent root\)/,
  ],
  [
    'tools of an Agentfile by its configuration',
    'Agentfile',
    'NAME t\nGOAL g "Do it"\nRUN main USING g\n',
    /starts commands that the agent chooses \(tool shell of agent g\)/,
  ],
  [
    'the code of a module',
    'flow.ts',
    'import { writeFileSync } from "node:fs";\nwriteFileSync("planted", "");\nexport default 1;\n',
    /runs flow\.ts \(its code can do all that you can\)/,
  ],
];

describe('skein validate --powers', () => {
  it.each(POWERS)('[T9] lists %s, and does nothing of it', async (_, name, text, line) => {
    const cwd = await makeProject({ [name]: text, 'agent.toml': 'tools = ["bash"]\n', 'docs/a.md': '' });
    const before = await filesIn(cwd);
    const end = await served(['validate', name, '--powers'], { cwd });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toMatch(line);
    const json = await served(['validate', name, '--powers', '--json'], { cwd });
    const { files } = JSON.parse(json.stdout) as { files: { powers: unknown[]; trusted: boolean }[] };
    expect(files[0]?.powers.length).toBeGreaterThan(0);
    expect(files[0]?.trusted).toBe(false);
    expect(await filesIn(cwd)).toEqual(before);
  });

  it('says of a file that only reads the project that it needs nothing', async () => {
    const cwd = await makeProject({ 'flow.yaml': `name: t\n${INLINE('tools: [grep, read_file]')}${STEP}` });
    const end = await served(['validate', 'flow.yaml', '--powers'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: 'flow.yaml can only read the project\n' });
  });

  it('names files that lie outside of the project, also behind a link', async () => {
    const outside = await makeProject({ 'secret.md': '---\nname: a\n---\nsecret', 'b.md': '---\nname: b\n---\nx' });
    const flow = `name: t\nagents: { a: { file: a.md }, b: { file: ${join(outside, 'b.md')} } }\nsteps: [{ id: s, agent: a, prompt: p }, { id: u, agent: b, prompt: p }]\n`;
    const cwd = await makeProject({ 'flow.yaml': flow });
    await symlink(join(outside, 'secret.md'), join(cwd, 'a.md'));
    const end = await served(['validate', 'flow.yaml', '--powers'], { cwd });
    expect(end.stdout).toContain(`reads ${join(cwd, 'a.md')} (file of the workflow)`);
    expect(end.stdout).toContain(`reads ${join(outside, 'b.md')} (file of the workflow)`);
  });

  it("says nothing of the user's own agents", async () => {
    const cwd = await makeProject({ 'flow.yaml': `name: t\nsteps: [{ id: s, agent: mine, prompt: p }]\n` });
    await mkdir(join(cwd, 'home/.copilot/agents'), { recursive: true });
    await writeFile(join(cwd, 'home/.copilot/agents/mine.agent.md'), '---\nname: mine\ntools: [grep]\n---\nx');
    const project = join(cwd, 'inner');
    await mkdir(project);
    await writeFile(join(project, 'flow.yaml'), 'name: t\nsteps: [{ id: s, agent: mine, prompt: p }]\n');
    const end = await served(['validate', 'flow.yaml', '--powers'], { cwd: project, env: { HOME: join(cwd, 'home') } });
    expect(end).toMatchObject({ code: 0, stdout: 'flow.yaml can only read the project\n' });
  });
});
