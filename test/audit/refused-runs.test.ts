import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runWorkflow } from '../../src/runtime.js';
import type { Store } from '../../src/journal/store.js';
import { memoryStore } from '../../src/stores/memory.js';
import { faultyStore } from '../../src/testing/index.js';
import { loadDagText } from '../../src/yaml.js';
import { tempDir } from './support/folder.js';

const workflow = await loadDagText(
  'name: one\nagents: { a: { inline: { prompt: x, tools: [] } } }\nsteps: [{ id: s, agent: a, prompt: y }]\n',
  { cwd: import.meta.dirname },
);

async function refused(dir: string, store: () => Promise<Store>): Promise<unknown> {
  const models = { env: {}, mock: true };
  return await runWorkflow(workflow, { audit: { dir, keep: 1 }, models, openStore: store }).catch(
    (error: unknown) => error,
  );
}

describe('a run that its store refuses', () => {
  test.each<[string, () => Promise<Store>]>([
    ['at its first operation', async () => faultyStore(memoryStore(), { failAt: 1 })],
    ['because it can not be opened', () => Promise.reject(Object.assign(new Error('no'), { code: 'SKEIN_STORE' }))],
  ])('%s leaves no folder, and none above it that was made for it', async (_when, store) => {
    const base = await tempDir();
    expect(await refused(join(base, 'a', 'b'), store)).toMatchObject({ code: 'SKEIN_STORE' });
    expect(await readdir(base)).toEqual([]);
  });

  test('removes no older run, and nothing that somebody else has put there', async () => {
    const dir = join(await tempDir(), 'runs');
    const models = { env: {}, mock: true };
    for (let at = 0; at < 2; at++) await (await runWorkflow(workflow, { audit: { dir, keep: 0 }, models })).result;
    await mkdir(join(dir, 'mine'));
    const before = await readdir(dir);
    expect(before).toHaveLength(3);
    expect(await refused(dir, async () => faultyStore(memoryStore(), { failAt: 1 }))).toMatchObject({
      code: 'SKEIN_STORE',
    });
    expect((await readdir(dir)).toSorted()).toEqual(before.toSorted());
  });
});
