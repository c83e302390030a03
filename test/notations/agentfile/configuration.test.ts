import { describe, expect, it } from 'vitest';
import { workflowNode } from '../../../src/graph.js';
import { runWorkflow } from '../../../src/index.js';
import { agentfile, agentsIn, loadAgentfile, problemsIn, told } from './agentfiles.js';

const GOAL = agentfile('GOAL a "A."');
const TEAM = agentfile('AGENT f "F." REQUIRES "fast"\nAGENT p "P."\nGOAL a "A." USING f, p');
const READING = ['read_file', 'list_dir', 'glob', 'grep'];

describe('agent.toml', () => {
  it('[D7] [addition 8] both forms are read: [llm] and [model], [mcp.servers.X] and [mcp.X]', async () => {
    for (const text of [
      '[llm]\nprovider = "anthropic"\nmodel = "claude-sonnet-4"\nmax_tokens = 4096\n[profiles.fast]\nmodel = "gpt-4o-mini"\n',
      '[model]\nmodel = "anthropic/claude-sonnet-4"\nmax_tokens = 4096\n[profiles.fast]\nprovider = "openai"\nmodel = "gpt-4o-mini"\n',
    ]) {
      const workflow = await loadAgentfile(TEAM, { 'agent.toml': text });
      expect(told(workflow)).toEqual([]);
      const { 'a/f': fast, 'a/p': plain } = agentsIn(workflow);
      expect(fast).toMatchObject({ models: ['openai/gpt-4o-mini'], settings: { maxOutputTokens: 4096 } });
      expect(plain).toMatchObject({ models: ['anthropic/claude-sonnet-4'], settings: { maxOutputTokens: 4096 } });
    }
  });

  it('[addition 8] a profile has what it does not say itself from [llm]', async () => {
    const text = '[llm]\nmodel = "ollama/qwen3"\nmax_tokens = 9\ntemperature = 0.5\n[profiles.fast]\nmax_tokens = 5\n';
    const { 'a/f': fast } = agentsIn(await loadAgentfile(TEAM, { 'agent.toml': text }));
    expect(fast).toMatchObject({ models: ['ollama/qwen3'], settings: { maxOutputTokens: 5, temperature: 0.5 } });
  });

  it('[D7] --config lies over the file beside: right wins, tables are joined', async () => {
    const files = {
      'agent.toml': '[llm]\nmodel = "claude-sonnet-4"\nmax_tokens = 7\n[profiles.fast]\nmodel = "gpt-4o"\n',
      'ci/more.toml': '[llm]\nmodel = "openai/gpt-5"\n[profiles.slow]\nmodel = "gemini-2"\n',
    };
    const lines = 'AGENT f "F." REQUIRES "fast"\nAGENT s "S." REQUIRES "slow"\nGOAL a "A." USING f, s';
    const workflow = await loadAgentfile(agentfile(lines), files, { config: 'ci/more.toml' });
    const agents = agentsIn(workflow);
    expect(Object.values(agents).map(({ models }) => models[0])).toEqual([
      'openai/gpt-4o',
      'google/gemini-2',
      'openai/gpt-5',
    ]);
    expect(agents['a/f']?.settings).toEqual({ maxOutputTokens: 7 });
    const absent = await problemsIn(GOAL, {}, { config: 'none.toml' });
    expect(absent).toEqual([
      'none.toml:1:1 error file-missing: the configuration none.toml does not exist (check the path; it is relative to where it is named)',
    ]);
  });

  it('[D3] a profile that is not there is a problem at its place', async () => {
    expect(await problemsIn(TEAM, { 'agent.toml': '[profiles.fats]\nmodel = "gpt-5"\n' })).toEqual([
      '2:23 error unknown-profile: there is no profile "fast" (did you mean "fats"?)',
    ]);
    expect(await problemsIn(TEAM)).toEqual([
      '2:23 error unknown-profile: there is no profile "fast" (add [profiles.fast] with model = "provider/model" to agent.toml, or name a file with --config)',
    ]);
  });

  it('[addition 8] tables of other programs are one warning', async () => {
    const text =
      '[agent]\nid = "x"\nworkspace = "."\n[small_llm]\nmodel = "x"\n[storage]\npath = "s"\n[telemetry]\nenabled = false\n';
    expect(await problemsIn(GOAL, { 'agent.toml': text })).toEqual([
      'agent.toml:4:2 warning unused-table: these tables are not used: small_llm, storage, telemetry (they mean something to other programs; they may stay)',
    ]);
  });

  it.each([
    [
      'a model that does not say its provider',
      '[llm]\nmodel = "sonnet"',
      '2:9 error unknown-model: the model "sonnet" does not say its provider (write provider/model, such as openai/gpt-5-mini)',
    ],
    [
      'an unknown provider',
      '[llm]\nprovider = "antropic"\nmodel = "x"',
      '2:12 error unknown-provider: there is no provider "antropic" (did you mean "anthropic"?)',
    ],
    [
      'a misspelt table',
      '[profile.fast]\nmodel = "gpt-5"',
      '1:2 error unknown-key: unknown key "profile" (did you mean "profiles"?)',
    ],
    [
      'a misspelt key',
      '[llm]\nmodle = "gpt-5"',
      '2:1 error unknown-key: unknown key "modle" in llm (did you mean "model"?)',
    ],
    [
      'a value of another type',
      '[llm]\nmax_tokens = "many"',
      '2:14 error wrong-type: max_tokens of llm must be a whole number, not "many" (write digits, without quotes)',
    ],
    [
      'a credential',
      '[llm]\napi_key = "sk-secret"',
      '2:1 error credential: llm.api_key holds a credential (put it into the environment, and remove it here)',
    ],
    [
      'a credential of a server',
      '[mcp.x]\ncommand = "x"\nenv = { API_KEY = "sk-secret" }',
      '3:9 error credential: mcp.x.env.API_KEY holds a credential (write API_KEY = "${API_KEY}")',
    ],
    [
      'a variable outside of env',
      '[mcp.x]\ncommand = "x"\nargs = ["${HOME}"]',
      '3:9 error bad-reference: MCP server "x": variables of the environment can stand in env only (write the value, or give the server a variable: env = { NAME = "${NAME}" })',
    ],
    [
      'a server with both',
      '[mcp.servers.x]\ncommand = "x"\nendpoint = "https://x.test"',
      '1:2 error mcp-server: MCP server "x" has a command and an endpoint (write command = "PROGRAM", or endpoint = "https://...")',
    ],
    [
      'a server with neither',
      '[mcp.servers.x]\nargs = []',
      '1:2 error mcp-server: MCP server "x" needs a command, or an endpoint (write command = "PROGRAM", or endpoint = "https://...")',
    ],
    [
      '[llm] and [model]',
      '[llm]\nmodel = "gpt-5"\n[model]\nmodel = "gpt-5"',
      '3:2 error duplicate-table: [llm] and [model] are two names of one table (keep one of them)',
    ],
    [
      'an unknown tool',
      'tools = ["wirte"]',
      '1:10 error unknown-tool: agent.toml: there is no tool "wirte" (did you mean "write"?)',
    ],
    [
      'tools below a table',
      '[agent]\ntools = ["write"]',
      '2:1 error not-supported: tools of agent is not supported: without it the file means something else (write tools = [...] above the first [table]; --lenient (lenient: true) goes without)',
    ],
    [
      'a forbidden name',
      '[__proto__]\nx = 1',
      '1:2 error forbidden-name: "__proto__" cannot be used as a key (choose another name)',
    ],
  ])('[D7] [addition 8] %s is a problem', async (_, text, problem) => {
    const problems = await problemsIn(GOAL, { 'agent.toml': `${text}\n` });
    expect(problems).toContain(`agent.toml:${problem}`);
    expect(problems.join('\n')).not.toContain('sk-secret');
  });

  it.each([
    ['an unclosed table', '[llm\nmodel = "x"', '2:1'],
    ['an unclosed text', '[llm]\nmodel = "x', '2:11'],
    ['a value that is missing', '[llm]\nmodel =\nmax_tokens = 1', '3:1'],
    ['a key twice', 'tools = []\ntools = []', '2:1'],
    ['a table twice', '[llm]\nmodel = "gpt-5"\n[llm]\nmax_tokens = 1', '3:2'],
    ['control characters', 'tools = ["\u0001"]', '1:11'],
    ['deep nesting', `tools = ${'['.repeat(30_000)}${']'.repeat(30_000)}`, '1:1'],
    ['a text of 100 kB', `tools = ["${'x'.repeat(100_000)}"]`, '1:1'],
  ])('[bad input] damaged TOML: %s is a problem with its place', async (_, text, place) => {
    const [first, ...others] = await problemsIn(GOAL, { 'agent.toml': text });
    expect(first).toMatch(new RegExp(`^agent\\.toml:${place} error toml-(?:syntax|limit): `));
    expect(others).toEqual([]);
  });

  it('[addition 8] [supervisor] is the model that judges', async () => {
    const files = { 'agent.toml': '[supervisor]\nmodel = "claude-opus-4"\n' };
    const { plan } = await loadAgentfile(agentfile('SUPERVISED\nGOAL a "A."'), files);
    expect(plan?.nodes[0]?.supervise).toMatchObject({ by: 'model', model: 'anthropic/claude-opus-4' });
  });
});

describe('tools', () => {
  it('[addition 7] without configuration agents only read', async () => {
    const workflow = await loadAgentfile(GOAL);
    expect(agentsIn(workflow)['a']?.tools).toEqual(READING);
    expect(workflow.notes).toEqual([
      'tools: read_file, list_dir, glob, grep (by default: they only read); further ones: tools = ["write"] in agent.toml, or --tools write',
    ]);
  });

  it('[addition 7] agent.toml and --tools give more, under the names of Agentfiles, and each is exactly that tool', async () => {
    const workflow = await loadAgentfile(
      GOAL,
      { 'agent.toml': 'tools = ["edit", "read", "web_fetch"]\n' },
      { tools: ['bash', 'ls', 'write'] },
    );
    expect(told(workflow)).toEqual([]);
    expect(agentsIn(workflow)['a']?.tools).toEqual([...READING, 'Edit', 'web_fetch', 'bash', 'Write']);
    expect(workflow.notes).toEqual([
      'tools: read_file, list_dir, glob, grep (by default: they only read), edit, web_fetch (by agent.toml), bash, write (by --tools)',
    ]);
  });

  it('[addition 8] servers are there only for agents that have their tools, and with these tools alone', async () => {
    const toml =
      '[mcp.servers.files]\ncommand = "files"\nargs = ["-y"]\nenv = { TOKEN = "${TOKEN}" }\n[mcp.memory]\nendpoint = "https://memory.test/mcp"\n';
    const mcpOf = async (tools: readonly string[]) =>
      agentsIn(await loadAgentfile(GOAL, { 'agent.toml': toml }, { tools }))['a'];
    expect((await mcpOf([]))?.mcpServers).toBeUndefined();
    const files = { command: 'files', args: ['-y'], env: { TOKEN: '${TOKEN}' } };
    expect((await mcpOf(['files']))?.mcpServers).toEqual({ files });
    expect((await mcpOf(['files/read_file', 'mcp_files_list']))?.mcpServers).toEqual({
      files: { ...files, tools: ['read_file', 'list'] },
    });
    expect((await mcpOf(['memory/*']))?.mcpServers).toEqual({ memory: { url: 'https://memory.test/mcp' } });
  });

  it('[addition 7] an unknown name in --tools is a problem, also one of a tool that does not exist here', async () => {
    expect(await problemsIn(GOAL, {}, { tools: ['web_search', 'wrte'] })).toEqual([
      expect.stringMatching(/^-:- error unknown-tool: --tools: there is no tool "web_search"/),
      '-:- error unknown-tool: --tools: there is no tool "wrte" (did you mean "write"?)',
    ]);
  });
});

describe('policy.toml', () => {
  const toolsWith = async (policy: string, tools: readonly string[] = []) => {
    const workflow = await loadAgentfile(GOAL, { 'policy.toml': policy }, { tools });
    expect(told(workflow)).toEqual([]);
    return [agentsIn(workflow)['a']?.tools, workflow.notes?.[0]?.replace(/^.*; /, '')];
  };

  it('[addition 7] enabled of [write] and of [tools.write] switches a tool off, also one that only reads', async () => {
    expect(await toolsWith('[write]\nenabled = false\n', ['write', 'bash'])).toEqual([
      [...READING, 'bash'],
      'policy.toml denies write',
    ]);
    expect(await toolsWith('[tools.bash]\nenabled = false\n[tools.ls]\nenabled = false\n', ['write', 'bash'])).toEqual([
      ['read_file', 'glob', 'grep', 'Write'],
      'policy.toml denies list_dir, bash',
    ]);
  });

  it('[addition 7] default_deny leaves the tools that have a table', async () => {
    expect(await toolsWith('default_deny = true\n[read]\nenabled = true\n[tools.bash]\n', ['bash', 'write'])).toEqual([
      ['read_file', 'bash'],
      'policy.toml denies list_dir, glob, grep, write',
    ]);
  });

  it('[addition 7] a rule that nothing enforces is named, and keeps a run from starting: not the file from being looked at', async () => {
    const policy =
      'allowed_dirs = ["/tmp"]\n[bash]\nenabled = true\ndenylist = ["sudo *"]\n[mcp]\ndefault_deny = true\n[security]\nextra_keywords = ["x"]\n';
    const workflow = await loadAgentfile(GOAL, { 'policy.toml': policy });
    expect(workflow.plan).toBeDefined();
    expect(workflow.problems.every(({ holds }) => holds === true)).toBe(true);
    expect(told(workflow).map((line) => line.replace(/: a run.*/, ''))).toEqual([
      'policy.toml:8:1 warning policy-not-enforced: the rule security.extra_keywords is not enforced',
    ]);
  });

  it('[addition 7] rules for folders, commands and servers go along with each agent', async () => {
    const policy =
      'allowed_dirs = ["$WORKSPACE/src"]\n[bash]\ndenylist = ["sudo *"]\n[mcp]\ndefault_deny = true\nallowed_tools = ["fs:read_*"]\n';
    const workflow = await loadAgentfile(GOAL, { 'policy.toml': policy });
    expect(told(workflow)).toEqual([]);
    expect(agentsIn(workflow)['a']?.policy).toEqual({
      file: 'policy.toml',
      allow: ['mcp:fs:read_*'],
      folders: ['$WORKSPACE/src'],
      tools: { shell: { deny: ['sudo *'] } },
      mcp: { defaultDeny: true },
    });
  });

  it.each(['', '# [bash]\n'])(
    '[bad input] one without a rule, such as one that was cut off, is refused: %j',
    async (policy) => {
      const workflow = await loadAgentfile(GOAL, { 'policy.toml': policy });
      expect(told(workflow)).toEqual([
        'policy.toml:1:1 error empty-policy: the policy has no rules (write its rules, or remove the file)',
      ]);
    },
  );

  it('[addition 7] a program can neither run such a file nor make it a node of its own', async () => {
    const workflow = await loadAgentfile(GOAL, { 'policy.toml': 'rate_limit = 30\n' });
    const refused = { code: 'SKEIN_DEFINITION', message: expect.stringContaining('rate_limit') as string };
    await expect(runWorkflow(workflow, { models: { mock: true } })).rejects.toMatchObject(refused);
    expect(() => workflowNode(workflow, 'notes')).toThrow(expect.objectContaining(refused));
  });

  it('[addition 7] rules of a tool that is switched off, and empty ones, keep nothing back', async () => {
    expect(
      await toolsWith(
        'allowed_dirs = []\n[bash]\nenabled = false\ndenylist = ["sudo *"]\n[mcp]\ndefault_deny = false\n',
      ),
    ).toEqual([READING, expect.stringContaining('further ones')]);
  });

  it('[bad input] a flag that is none, and damaged TOML, are problems', async () => {
    expect(await problemsIn(GOAL, { 'policy.toml': 'default_deny = "no"\n' })).toEqual([
      'policy.toml:1:16 error wrong-type: default_deny must be true or false (write true or false, without quotes)',
    ]);
    expect(await problemsIn(GOAL, { 'policy.toml': '[read\n' })).toEqual([
      expect.stringMatching(/^policy\.toml:2:1 error toml-syntax/),
    ]);
  });
});
