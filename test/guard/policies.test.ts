import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { openPolicies, type Policy } from 'skein/yaml';
import { policyDigest, unitePolicies } from '../../src/guard/policy.js';
import { rejected } from '../thrown.js';
import { calls } from './support/guarded-run.js';
import { folder, heardBy } from './support/policed.js';

const mine = (rules: Partial<Policy>): Policy => ({ file: 'mine.yaml', widens: true, ...rules });

describe('[G10] what a policy keeps an agent from', () => {
  it('a tool, by any of its names, and a command by its words; what denies wins over what allows', async () => {
    const { cwd } = await folder({ 'a.txt': 'text' });
    const policy = [mine({ allow: ['shell', 'read_file'], deny: ['read_file', 'shell:cmd=rm *'] })];
    const said = [
      calls(['Read', { file_path: 'a.txt' }], ['shell', { argv: ['rm', '-rf', 'x'] }], ['shell', { argv: ['true'] }]),
    ];
    const { results } = await heardBy(said, { tools: ['Read', 'shell'] }, { cwd, policy });
    expect(results).toEqual([
      expect.stringContaining('the policy mine.yaml denies it by the rule "read_file"'),
      expect.stringContaining('denies it by the rule "shell:cmd=rm *"'),
      expect.not.stringContaining('policy'),
    ]);
  });

  it('with default_deny all that nothing allows', async () => {
    const { cwd } = await folder({ 'a.txt': 'text' });
    const policy = [mine({ defaultDeny: true, allow: ['read_file:path=*.txt'] })];
    const said = [
      calls(['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.md' }], ['list_dir', { path: '.' }]),
    ];
    const { results } = await heardBy(said, {}, { cwd, policy });
    expect(results[0]).toContain('text');
    expect(results.slice(1)).toEqual([
      expect.stringContaining('denies what it does not allow'),
      expect.stringContaining('denies what it does not allow'),
    ]);
  });

  it('folders, also through a link, and hosts, by their names', async () => {
    const { cwd, outside } = await folder({ 'src/a.txt': 'in', 'b.txt': 'beside' });
    await symlink(join(cwd, 'b.txt'), join(cwd, 'src/link.txt'));
    const policy = [mine({ folders: ['src'], domains: ['*.example.com'] })];
    const reads = ['src/a.txt', 'b.txt', 'src/link.txt', join(outside, 'x')].map(
      (path) => ['read_file', { path }] as const,
    );
    const said = [
      calls(...reads, ['write_file', { path: 'new.txt', content: 'x' }], ['fetch', { url: 'https://evil.test/' }]),
    ];
    const { results } = await heardBy(said, { tools: ['read_file', 'write_file', 'fetch'] }, { cwd, policy });
    expect(results[0]).toContain('in');
    const refused = expect.stringContaining('outside of the folders that a policy allows: src') as string;
    expect(results.slice(1, 3)).toEqual([refused, refused]);
    expect(results.slice(4)).toEqual([refused, expect.stringContaining('a policy does not list evil.test')]);
  });

  it('a call that takes longer than its tool may', async () => {
    const { cwd } = await folder({});
    const policy = [mine({ tools: { shell: { timeoutMs: 50 } } })];
    const { results } = await heardBy(
      [calls(['shell', { argv: ['sleep', '30'] }])],
      { tools: ['shell'] },
      { cwd, policy },
    );
    expect(results).toEqual([expect.stringContaining('shell took longer than the 50ms that a policy gives it')]);
  });

  it('servers of which no tool may be called: none is started or reached', async () => {
    const { cwd } = await folder({});
    const mcpServers = { kit: { command: 'no-such-program' }, net: { url: 'https://evil.test/mcp' } };
    const policy = [mine({ deny: ['mcp:kit:*'], domains: ['example.com'] })];
    const { result, warnings, turns } = await heardBy([], { tools: ['*'], mcpServers }, { cwd, policy });
    expect(warnings).toEqual(['policy-denies', 'policy-denies']);
    expect([result.outcome, turns]).toEqual(['succeeded', 1]);
  });

  it('nobody is asked about a call that is denied', async () => {
    const { cwd } = await folder({ 'a.txt': 'text' });
    const policy = [mine({ deny: ['shell'], project: 'untrusted' })];
    const said = [calls(['read_file', { path: 'a.txt' }]), calls(['shell', { argv: ['curl', 'x'] }])];
    const { questions, results } = await heardBy(said, { tools: ['read_file', 'shell'] }, { cwd, policy });
    expect(results[1]).toContain('denies it');
    expect(questions).toEqual([]);
  });
});

describe('policies of several places', () => {
  it('[G10] from outside are one: lists are united, each once; the later wins for default_deny and for each tool', () => {
    const a = mine({
      defaultDeny: true,
      deny: ['shell', 'fetch'],
      tools: { shell: { timeoutMs: 1 }, grep: { enabled: false } },
    });
    const b = mine({ file: 'b', defaultDeny: false, deny: ['fetch', 'grep'], tools: { shell: { enabled: true } } });
    expect(unitePolicies([a, b])).toEqual([
      {
        file: 'mine.yaml, b',
        widens: true,
        defaultDeny: false,
        deny: ['shell', 'fetch', 'grep'],
        tools: { shell: { enabled: true }, grep: { enabled: false } },
      },
    ]);
  });

  it('one inside of the project only narrows: what it allows does not count against what another one denies', async () => {
    const { cwd } = await folder({ 'src/a.txt': 'in', 'docs/b.txt': 'beside' });
    const inside: Policy = { file: 'skein.policy.yaml', defaultDeny: true, allow: ['*'], folders: ['docs'] };
    const policy = [mine({ deny: ['shell'], folders: ['src'] }), inside];
    const said = [calls(['shell', { argv: ['true'] }], ['read_file', { path: 'src/a.txt' }])];
    const { results } = await heardBy(said, { tools: ['shell', 'read_file'] }, { cwd, policy });
    expect(results).toEqual([expect.stringContaining('denies it'), expect.stringContaining('outside of the folders')]);
  });
});

describe('[statement] a resume decides the same', () => {
  it('calls that were made are not decided again; those that would run now are decided by the policy of now', async () => {
    const { cwd } = await folder({ 'a.txt': 'text' });
    const store = memoryStore();
    const said = [calls(['read_file', { path: 'a.txt' }])];
    const first = await heardBy(said, {}, { cwd, store, runId: 'r' });
    const deny = [mine({ deny: ['read_file'] })];
    const again = await heardBy(said, {}, { cwd, store, resume: 'r', policy: deny });
    expect(first.results[0]).toContain('text');
    expect([again.turns, again.result.outcome, again.result.ran]).toEqual([0, 'succeeded', 0]);
    const anew = await heardBy(said, {}, { cwd, store, fork: { run: 'r', from: 'a' }, policy: deny });
    expect(anew.results[0]).toContain('denies it');
  });

  it('is recorded by a digest that names of files do not change', () => {
    expect(policyDigest([mine({ deny: ['shell'] })])).toBe(policyDigest([mine({ file: 'other', deny: ['shell'] })]));
    expect(policyDigest([mine({ deny: ['shell'] })])).not.toBe(policyDigest([mine({ deny: ['fetch'] })]));
    expect(policyDigest([])).toBeUndefined();
  });
});

describe('what a policy says of where texts come from', () => {
  const said = [calls(['read_file', { path: 'a.txt' }]), calls(['shell', { argv: ['npm', 'test'] }])];
  const spec = { tools: ['read_file', 'shell'] };

  it.each([
    ['asks about a command after the project was read', {}, 1],
    ['one that it declares is free', { commands: [['npm', 'test']] }, 0],
    [
      'one that it declares asks where the project is a stranger’s',
      { commands: [['npm', 'test']], project: 'untrusted' as const },
      1,
    ],
  ])('%s', async (_, rules, count) => {
    const { cwd } = await folder({ 'a.txt': 'text' });
    const { questions } = await heardBy(said, spec, { cwd, policy: [mine(rules)] });
    expect(questions).toHaveLength(count);
  });
});

describe('files of policies', () => {
  const YAML = `default_deny: true
allow: [read, 'github:get_*', 'shell:cmd=git *']
deny: [fetch]
folders: [src]
domains: ['*.example.com']
tools: { bash: { timeout: 30s, deny: ['rm *'] }, write: { enabled: false } }
mcp: { default_deny: true }
project: untrusted
servers: { tracker: { level: vetted, public: true } }
hosts: [example.com]
commands: [[npm, test]]
sends: [{ tool: github/create_comment, fixed: { repo: acme/web }, free: [body] }]
`;
  const TOML = `default_deny = true
allow = ["read", "github:get_*", "shell:cmd=git *"]
deny = ["fetch"]
allowed_dirs = ["src"]
domains = ["*.example.com"]
project = "untrusted"
hosts = ["example.com"]
commands = [["npm", "test"]]
sends = [{ tool = "github/create_comment", fixed = { repo = "acme/web" }, free = ["body"] }]
[bash]
timeout = 30
denylist = ["rm *"]
[tools.write]
enabled = false
[mcp]
default_deny = true
[servers.tracker]
level = "vetted"
public = true
`;
  const READ = {
    widens: true,
    defaultDeny: true,
    allow: ['read_file', 'mcp:github:get_*', 'shell:cmd=git *'],
    deny: ['fetch'],
    folders: ['src'],
    domains: ['*.example.com'],
    tools: { shell: { timeoutMs: 30_000, deny: ['rm *'] }, write_file: { enabled: false } },
    mcp: { defaultDeny: true },
    project: 'untrusted',
    servers: { tracker: { level: 'vetted', public: true } },
    hosts: ['example.com'],
    commands: [['npm', 'test']],
    sends: [{ tool: 'github/create_comment', fixed: { repo: 'acme/web' }, free: ['body'] }],
  };

  it.each([
    ['../mine.yaml', YAML],
    ['../mine.toml', TOML],
  ])('%s gives the same policy', async (file, text) => {
    const { cwd } = await folder({ [file]: text });
    expect(await openPolicies({ cwd, file })).toEqual([{ file, ...READ }]);
  });

  it('in the project is found by its name, and refused where it would let more happen, also by a link or by --policy', async () => {
    const { cwd, outside } = await folder({ 'skein.policy.yaml': 'deny: [shell]\n', 'ci.yaml': 'hosts: [a.com]\n' });
    expect(await openPolicies({ cwd })).toEqual([{ file: 'skein.policy.yaml', deny: ['shell'] }]);
    await symlink(join(cwd, 'ci.yaml'), join(outside, 'link.yaml'));
    for (const file of ['ci.yaml', '../link.yaml']) {
      const error = await rejected(() => openPolicies({ cwd, file }));
      expect(error).toMatchObject({ code: 'SKEIN_DEFINITION' });
      expect(String(error)).toContain(`${file}:1:1: error policy-widens: hosts counts only in a policy from outside`);
    }
  });

  it.each([
    ['default_deny: 5', '1:15: error wrong-type: default_deny must be true or false'],
    ['defualt_deny: true', '1:1: warning policy-not-enforced: the rule defualt_deny is not enforced'],
    ['deny: shell', '1:7: error wrong-type: deny must be a list of texts'],
    ['deny: [fetch, "shell:cmd="]', '1:15: error policy-rule: deny: "shell:cmd=" can\'t be used'],
    [
      'deny: ["shell:path=x"]',
      '1:8: error policy-rule: deny: "shell:path=x" can\'t be used: shell has no argument "path"',
    ],
    ['tools: { bash: { timeout: soon } }', '1:27: error wrong-type: tools.bash.timeout must be a time'],
    ['tools: { bash: { rate_limit: 3 } }', '1:18: warning policy-not-enforced: the rule tools.bash.rate_limit'],
    ['project: mine', '1:10: error unknown-value: project must be untrusted or public'],
    ['commands: [npm test]', '1:12: error wrong-type: an entry of commands must be a list of words, not text'],
    ['hosts: ["https://example.com"]', '1:9: error bad-host: hosts: "https://example.com" is not the name of a host'],
    ['sends: [{ fixed: {} }]', '1:9: error missing-tool: an entry of sends names no tool'],
    ['sends: [{ tool: a/b, fre: [c] }]', '1:22: error unknown-key: unknown key "fre"'],
    ['- a', '1:1: error wrong-type: the policy must be a map'],
    ['a: [', '2:1: error yaml-syntax'],
  ])('%s is refused with its place', async (text, said) => {
    const { cwd } = await folder({ '../p.yaml': `${text}\n` });
    const error = await rejected(() => openPolicies({ cwd, file: '../p.yaml' }));
    expect(String(error)).toContain(`../p.yaml:${said}`);
  });

  it.each(['p.yaml', 'p.toml', 'skein.policy.yaml', 'skein.policy.toml'])(
    '%s without a rule, such as one that was cut off, is refused: it would permit everything',
    async (file) => {
      for (const text of ['', '# deny: [shell]\n']) {
        const { cwd } = await folder({ [file]: text });
        const error = await rejected(() => openPolicies({ cwd, file: file.startsWith('p.') ? file : undefined }));
        expect(String(error)).toMatch(`${file}:1:1: error empty-policy: the policy has no rules`);
      }
    },
  );

  it('that is named and is not there is an error', async () => {
    const { cwd } = await folder({});
    expect(String(await rejected(() => openPolicies({ cwd, file: 'no.yaml' })))).toContain('no.yaml');
  });
});
