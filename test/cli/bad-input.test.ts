import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../agent/support/fake-provider.js';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { CHAIN, documentOf, filesIn, makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const one = (step: string, head = ''): string =>
  `name: bad\n${head}agents: { a: { inline: { prompt: You help. } } }\nsteps:\n  - { ${step} }\n`;
const BOMB = ['a: &a [l,l,l,l,l,l,l,l,l]', ...['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi'].map(bombLine)];

function bombLine([before = '', name = '']: string): string {
  return `${name}: &${name} [${`*${before},`.repeat(9)}]`;
}

/** What is wrong, the workflow, and what is said about it with its place. */
const DEFINITIONS: readonly (readonly [what: string, workflow: string, said: RegExp])[] = [
  ['a YAML bomb', BOMB.join('\n'), /^flow\.yaml:\d+:\d+: error yaml-limit: /m],
  ['a document 100,000 deep', `name: x\nsteps: ${'['.repeat(100_000)}`, /^flow\.yaml:2:\d+: error yaml-limit: /m],
  ['10 MB of it', `name: x\n# ${'x'.repeat(10_000_000)}\n`, /^flow\.yaml:1:1: error file-too-large: /m],
  ['__proto__ as a step', one('id: __proto__, agent: a, prompt: p'), /^flow\.yaml:4:11: error forbidden-name: /m],
  ['an id with a slash', one('id: ../../etc/x, agent: a, prompt: p'), /^flow\.yaml:4:11: error bad-name: /m],
  [
    'a missing agent file',
    CHAIN.replace('{ inline:', '{ file: gone.md, inline:'),
    /:5:\d+: error file-missing: .*gone\.md/m,
  ],
  [
    'a cycle',
    one('id: x, agent: a, prompt: p, depends_on: [y] }\n  - { id: y, agent: a, prompt: p, depends_on: [x]'),
    /error cycle: these steps wait for each other: x -> y -> x|error cycle: .*y -> x -> y/,
  ],
  [
    'an unreadable directory',
    one('id: x, agent: other, prompt: p', 'config: { agent_search_paths: [circle] }\n').replace(/^agents:.*\n/m, ''),
    /^flow\.yaml:2:\d+: error file-unreadable: .*circle/m,
  ],
];

async function digests(cwd: string): Promise<readonly string[]> {
  const names = (await filesIn(cwd)).filter((name) => name !== 'circle');
  return await Promise.all(
    names.map(async (name) => {
      const digest = createHash('sha256')
        .update(await readFile(join(cwd, name)))
        .digest('hex');
      return `${name} ${digest}`;
    }),
  );
}

describe('a definition that can not be used: exit 2, nothing is written, nothing is started', () => {
  test.each(DEFINITIONS)('%s', async (_, workflow, said) => {
    const cwd = await makeProject({ 'flow.yaml': workflow, 'notes.txt': 'mine' });
    await symlink('circle', join(cwd, 'circle'));
    const before = await digests(cwd);
    const end = await served(['run', 'flow.yaml', '--mock', '--record', 'calls.jsonl'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(said);
    expect(end.stderr).toMatch(/^ {4}hint: \S/m);
    expect(end.stderr).not.toMatch(/started|^ +at /m);
    expect(await digests(cwd)).toEqual(before);
    expect((await served(['validate', 'flow.yaml'], { cwd })).code).toBe(2);
  });
});

const KEY = 'sk-test-0123456789abcdef';

/** What a provider does, what the error says, and how often it is asked. */
const PROVIDERS: readonly (readonly [what: string, reply: Reply, said: string, requests: number])[] = [
  ['returns nothing', { text: '' }, 'SKEIN_MODEL_EMPTY', 1],
  ['answers HTTP 500 for ever', { status: 500, headers: { 'retry-after-ms': '1' } }, 'SKEIN_MODEL_FAILED', 3],
  ['answers 429 with Retry-After', { status: 429, headers: { 'retry-after-ms': '1' } }, 'SKEIN_MODEL_OVERLOADED', 3],
  ['asks for a wait of an hour', { status: 429, headers: { 'retry-after': '3600' } }, 'asks to wait 3600 s', 1],
  ['cuts the connection in the middle of a stream', { cut: 'They we' }, 'SKEIN_NETWORK', 3],
];

describe('a model that fails: exit 3, a clear error, and a complete record', () => {
  test.each(PROVIDERS)('one that %s', async (_, reply, said, requests) => {
    await using server = await FakeProvider.start(reply);
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'notes.txt': 'mine' });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.baseUrl };
    const end = await served(['run', 'flow.yaml', '--model', 'openai/m', '--json'], { cwd, env });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain(said);
    expect(end.stderr).toContain('in step facts (agent writer): ');
    expect(documentOf(end)).toMatchObject({ outcome: 'failed', census: { failed: 1, notRun: 1 } });
    expect(server.requests).toHaveLength(requests);
    const folder = await runFolder(cwd);
    expect(JSON.parse(folder.get('workflow.meta.json') ?? '')).toMatchObject({ status: 'failed' });
    expect(folder.get('steps/00_facts/prompt.md')).toBe('Facts about looms');
    expect(await readFile(join(cwd, 'notes.txt'), 'utf8')).toBe('mine');
  });
});

const HANGING = `name: hanging
agents: { a: { inline: { prompt: You run things., tools: [shell] } } }
steps:
  - { id: hang, agent: a, prompt: go, timeout: 3s, retry_count: 1, on_error: continue }
  - { id: after, agent: a, prompt: "<{{steps.hang.output}}>", depends_on: [hang] }
`;
const NEVER = `strict: false
rules:
  - step: hang
    answers:
      - { times: 2, tools: [{ name: shell, input: { argv: [sh, -c, "sleep 1000 & echo $! >> pids; wait"] } }] }
      - never said
`;

const isLinux = process.platform === 'linux';
if (!isLinux) console.info('note: processes are looked up in /proc, so a test of them is skipped');

test.skipIf(!isLinux)(
  'decision 6, statement 34: a tool that never returns: its group is killed, the step timed out, was tried again, and the run goes on',
  async () => {
    const cwd = await makeProject({ 'flow.yaml': HANGING, 'answers.yaml': NEVER });
    const end = await served(['run', 'flow.yaml', '--model', 'script/answers.yaml', '--json'], { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end)).toMatchObject({
      outcome: 'degraded',
      steps: {
        hang: { status: 'timed_out', attempts: 2, error: { code: 'SKEIN_TIMEOUT' } },
        after: { status: 'succeeded', output: '<>' },
      },
    });
    const pids = (await readFile(join(cwd, 'pids'), 'utf8')).trim().split('\n');
    expect(pids).toHaveLength(2);
    const running = execFileSync('ps', ['-e', '-o', 'pid=,stat='], { encoding: 'utf8' });
    for (const pid of pids) expect(running).not.toMatch(new RegExp(`^ *${pid} [^Z]`, 'm'));
  },
);
