import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSandbox } from '../../src/agent/index.js';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { served } from '../cli/support/served.js';
import { makeProject, skein } from '../cli/support/skein.js';

const hasSandbox = 'by' in (await describeSandbox());
if (!hasSandbox) console.log('skipped in part: neither bwrap nor unshare makes a sandbox here');

const KEY = 'sk-a-key-that-no-child-may-see-8271';
/** Looks for the key in the environment of every process that can be seen, its parents and Skein among them. It says numbers only. */
const READ_ALL = `n=0; k=0
for f in /proc/[0-9]*/environ; do
  if text=$(tr '\\0' '\\n' <"$f"); then n=$((n+1)); case $text in *${KEY}*) k=$((k+1)) ;; esac; fi
done 2>/dev/null
echo "read $n, the key is in $k"`;

/** A tool server whose tool reads the same. */
const SERVER = `import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'kit', version: '1' } });
  if (method === 'tools/list') send(id, { tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] });
  if (method === 'tools/call') {
    const text = execFileSync('sh', ['-c', ${JSON.stringify(READ_ALL)}], { encoding: 'utf8' });
    send(id, { content: [{ type: 'text', text }] });
  }
});
`;

const flow = (sandbox: string): string => `name: ask
agents:
  tester:
    inline: { prompt: You test, tools: [shell], ${sandbox} }
  looker:
    inline:
      prompt: You look
      tools: [kit/look]
      mcp-servers: { kit: { command: node, args: [kit.mjs], ${sandbox} } }
steps:
  - { id: a, agent: tester, prompt: Test it }
  - { id: b, agent: looker, prompt: Look, depends_on: [a] }
`;

/** What a model is told that a command and a tool server have read; Skein itself has a key in its environment. */
async function seenByChildren(sandbox: string): Promise<readonly string[]> {
  await using provider = await FakeProvider.start(
    { calls: [{ id: 'c1', name: 'shell', input: JSON.stringify({ argv: ['sh', '-c', READ_ALL] }) }] },
    { text: 'Tested.' },
    { calls: [{ id: 'c2', name: 'mcp_kit_look', input: '{}' }] },
    { text: 'Done.' },
  );
  const cwd = await makeProject({ 'f.yaml': flow(sandbox), 'kit.mjs': SERVER });
  const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.baseUrl, XDG_STATE_HOME: join(cwd, 'state') };
  await served(['trust', 'f.yaml', '--yes'], { cwd, env });
  const { code, stderr } = await skein(['run', 'f.yaml', '--model', 'openai/gpt-4o-mini'], {
    cwd,
    env,
  });
  expect(code, stderr).toBe(0);
  const messages = provider.requests.flatMap(({ body }) => body['messages'] as readonly { readonly role: string }[]);
  return messages.filter(({ role }) => role === 'tool').map((one) => JSON.stringify(one));
}

test.skipIf(!hasSandbox).each(['on', 'offline'])(
  'no child of an agent with sandbox: %s finds a key in any environment that it can read',
  async (use) => {
    const results = await seenByChildren(`sandbox: ${use}`);
    expect(results).toHaveLength(2);
    for (const text of results) {
      expect(text).toMatch(/read [1-9]\d*, the key is in 0/);
    }
  },
);

test.skipIf(process.platform !== 'linux')(
  'outside of a sandbox every child finds it, as the documentation says',
  async () => {
    const results = await seenByChildren('');
    expect(results).toHaveLength(2);
    for (const text of results) expect(text).toMatch(/the key is in [1-9]/);
  },
);
