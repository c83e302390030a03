import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { linesOf, storeWith } from './in-process.js';

const LIMIT = 64 * 1024;

/** Two steps that give the same text, which is as long in JSON as is asked for. */
function twins(length: number) {
  const performed: string[] = [];
  const text = randomUUID().padEnd(length - 2, 'x');
  const give = (id: string) => ({
    id,
    output: id,
    run: () => {
      performed.push(id);
      return text;
    },
  });
  const last = { id: 'last', output: 'same', run: ({ a, b }: Record<string, unknown>) => a === b && a === text };
  const workflow = definePlan({
    name: 'twins',
    nodes: [give('a'), give('b'), last],
    edges: [
      ['a', 'last'],
      ['b', 'last'],
    ],
  });
  return { workflow, performed };
}

describe('J7: a value above 64 KiB is kept once, beside the journal', () => {
  test.each([
    ['one of exactly 64 KiB is in the journal', LIMIT, 2 * LIMIT, 3 * LIMIT],
    ['one that is longer is not', LIMIT + 1, 0, LIMIT],
    ['nor one of three MiB', 3 * 1024 * 1024, 0, LIMIT],
  ])('%s', async (_what, length, least, most) => {
    const { workflow, performed } = twins(length);
    const store = memoryStore();
    expect((await run(workflow, { store, runId: 'r' }).result).state['same']).toBe(true);
    const lines = linesOf(store, 'r');
    const size = lines.join('\n').length;
    expect([size >= least, size < most]).toEqual([true, true]);
    const blobs = new Set(lines.flatMap((line) => /"blob":"([^"]+)"/.exec(line)?.[1] ?? []));
    expect(blobs.size).toBe(least > 0 ? 0 : 1);
    const again = await run(workflow, { store, resume: 'r' }).result;
    expect([again.outcome, again.state['same'], performed]).toEqual(['succeeded', true, ['a', 'b']]);
  });

  test('a database holds it once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-big-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'skein.db');
    const store = await openSqliteStore(file);
    const { workflow } = twins(1_000_000);
    expect((await run(workflow, { store, runId: 'r' }).result).outcome).toBe('succeeded');
    store.close();
    expect(statSync(file).size).toBeLessThan(1_300_000);
  });

  test('one that is lost is told, and nothing goes on without it', async () => {
    const { workflow, performed } = twins(LIMIT + 1);
    const store = memoryStore();
    await run(workflow, { store, runId: 'r' }).result;
    const refused = (): unknown => run(workflow, { store: storeWith('r', store.read('r')), resume: 'r' });
    performed.length = 0;
    const error = await Promise.resolve()
      .then(async () => await (refused() as ReturnType<typeof run>).result)
      .then(
        ({ error: told }) => told,
        (thrown: unknown) => thrown,
      );
    expect(error).toMatchObject({ code: 'SKEIN_JOURNAL' });
    expect(performed).toEqual([]);
  });
});
