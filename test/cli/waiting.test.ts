import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject, skein, startSkein } from './support/skein.js';

const HEAD = `import { appendFileSync } from 'node:fs';
import { eventNode, graph, sleepNode } from 'skein/graph';
const note = (word) => (appendFileSync('ran.txt', word + '\\n'), word);
`;

const NAP = `${HEAD}
export default graph({ name: 'nap' })
  .node('before', () => note('before'))
  .node('nap', sleepNode({ ms: '2h' }))
  .node('after', () => note('after'))
  .addEdge('before', 'nap')
  .addEdge('nap', 'after')
  .setEntry('before');
`;

const SHOP = `${HEAD}
export default graph({ name: 'shop' })
  .node('before', () => note('before'))
  .node('paid', eventNode('payment', { schema: { type: 'object', required: ['amount'] } }))
  .node('ship', ({ paid }) => note('paid ' + paid.amount))
  .addEdge('before', 'paid')
  .setEntry('before');
`;

async function text(file: string): Promise<string> {
  return await readFile(file, 'latin1').catch(() => '');
}

test('[XG9] a process that is killed while a node sleeps: the next one waits only for what is left', async () => {
  const cwd = await makeProject({ 'nap.mjs': NAP });
  const running = startSkein(['run', 'nap.mjs', '--no-audit'], { cwd });
  const recorded = async (): Promise<boolean> => {
    const files = await Promise.all(['skein.db', 'skein.db-wal'].map((file) => text(join(cwd, '.skein', file))));
    return files.some((bytes) => bytes.includes('nap@timer'));
  };
  while (!(await recorded())) await new Promise((resolve) => setTimeout(resolve, 100));
  running.child.kill('SIGKILL');
  await running.ended;
  // For the second process it is three hours later.
  const later = join(cwd, 'later.mjs');
  await writeFile(later, 'const now = Date.now; Date.now = () => now() + 3 * 3_600_000;\n');
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(later).href}` };
  const end = await skein(['resume', '-1'], { cwd, env });
  expect([end.code, end.stderr]).toEqual([0, expect.any(String)]);
  expect(await text(join(cwd, 'ran.txt'))).toBe('before\nafter\n');
});

test('[XG9] a run that waits for an event says how it is told, and goes on in another process', async () => {
  const cwd = await makeProject({ 'shop.mjs': SHOP });
  const paused = await served(['run', 'shop.mjs', '--no-audit'], { cwd });
  expect(paused.code).toBe(5);
  expect(paused.stderr).toMatch(/waits for the event payment/);
  expect(paused.stderr).toMatch(/skein answer \w+/);
  const shown = await served(['show', '-1'], { cwd });
  expect(shown.stdout).toMatch(/paid waits for the event payment\n.*\n? {2}skein answer \w+ payment \[VALUE\]/);
  const refused = await served(['answer', '-1', 'payment', '12'], { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/does not match what was asked for/)]);
  expect((await served(['answer', '-1', 'payment', '{"amount":12}'], { cwd })).code).toBe(0);
  const end = await skein(['resume', '-1'], { cwd });
  expect([end.code, await text(join(cwd, 'ran.txt'))]).toEqual([0, 'before\npaid 12\n']);
});
