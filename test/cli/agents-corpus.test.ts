import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CORPUS, hasCorpus } from '../notations/corpus.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FOLDER = join(CORPUS, 'agents');
const found = hasCorpus();
const FILES = found ? readdirSync(FOLDER).filter((name) => name.endsWith('.agent.md')) : [];

/** Tools of other systems, by the agents that name them: what the warning says, and where. */
const NO_TOOLS: Readonly<Record<string, readonly [place: string, tools: string]>> = {
  'critical-thinking': ['4:21', '"extensions", "findTestFiles", "githubRepo", "problems", "searchResults", "usages"'],
  'one-shot-feature-issue-planner': ['5:21', '"githubRepo", "usages", "findTestFiles"'],
  planner: ['4:30', '"findTestFiles", "githubRepo", "usages"'],
  'postgresql-dba': [
    '4:39',
    '"githubRepo", "extensions", "database", "pgsql_bulkLoadCsv", "pgsql_connect", "pgsql_describeCsv", "pgsql_disconnect", "pgsql_listDatabases", "pgsql_listServers", "pgsql_modifyDatabase", "pgsql_open_script", "pgsql_query", "pgsql_visualizeSchema"',
  ],
  'react18-dep-surgeon': [
    '4:9',
    '"vscode/memory", "execute/getTerminalOutput", "read/terminalLastCommand", "read/terminalSelection"',
  ],
  'rug-orchestrator': ['4:9', '"vscode", "agent"'],
  'terminal-helper': ['4:9', '"execute/getTerminalOutput", "read/terminalLastCommand", "read/terminalSelection"'],
  'trojan-skill-hunter': ['4:31', '"usages", "problems", "githubRepo"'],
};

/** What is said of the head of a file, with the line. */
const OF_HEADS: Readonly<Record<string, string>> = {
  'scientific-paper-research':
    ':11:11: warning mcp-transport: MCP server "bgpt" of the agent: the old sse transport is not supported',
};

describe.skipIf(!found)('[XD3] each agent file of the corpus is the agent of a step', () => {
  it('there are twenty', () => {
    expect(FILES).toHaveLength(20);
  });

  it.each(FILES)('%s is found and loads; what is not supported is a warning with its line', async (file) => {
    const name = file.replace('.agent.md', '');
    const path = `.github/agents/${file}`;
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const cwd = await makeProject({
      'flow.yaml': `name: one\nsteps:\n  - { id: a, agent: ${JSON.stringify(nameIn(text))}, prompt: Go }\n`,
      [path]: text,
    });
    const { code, stdout, stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringContaining('flow.yaml is valid')]);
    expect(stderr).toContain(`agent ${nameIn(text)}: ${path}`);
    const tools = NO_TOOLS[name];
    const head = OF_HEADS[name];
    const expected = [
      ...(head === undefined ? [] : [`${path}${head}`]),
      ...(tools === undefined
        ? []
        : [
            `${path}:${tools[0]}: warning unknown-tools: agent ${nameIn(text)}: Skein has no tool for ${tools[1]}; the agent runs without it`,
          ]),
    ];
    // Real agents have what they need, and nothing declared: they are warned of the rule of two.
    const said = stderr.split('\n').filter((line) => /: (warning|error) (?!rule-of-two)/.test(line));
    expect(said).toEqual(expected);
  });
});

it.skipIf(!found)('[XD3] an agent of the corpus loads also when its description holds an unquoted colon', async () => {
  const agents = FILES.map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  const broken = agents.map((text) =>
    text.replace(/^description:.*$(?:\n[ \t].*)*/m, 'description: Use it like this: often'),
  );
  const steps = agents.map((text, at) => `  - { id: s${at}, agent: ${JSON.stringify(nameIn(text))}, prompt: Go }\n`);
  const files = Object.fromEntries(broken.map((text, at) => [`.github/agents/${FILES[at]}`, text]));
  const cwd = await makeProject({ 'flow.yaml': `name: all\nsteps:\n${steps.join('')}`, ...files });
  const { code, stderr } = await served(['validate', 'flow.yaml'], { cwd });
  expect(code, stderr).toBe(0);
  expect(stderr.match(/warning front-matter: the head is not YAML/g)).toHaveLength(
    agents.filter((text) => /^description:/m.test(text)).length,
  );
});

/** The name that the head of a file gives. */
function nameIn(text: string): string {
  return (/^name: *(.*)$/m.exec(text)?.[1] ?? '').trim().replaceAll(/^['"]|['"]$/g, '');
}
