import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import { programOf } from '../programs.js';
import { startWriter } from '../stores/support/programs.js';
import { THOROUGH } from '../thorough.js';

const PROCESSES = 8;
/** Of each process: in fifty it prunes twice, moves the log into the file three times, and shrinks the file. */
const RUNS = THOROUGH ? 10_000 : 50;

it(
  `[XR9] [XR5] ${PROCESSES} processes write, answer, prune and checkpoint one store, ${RUNS} runs each: nothing that was acknowledged is missing`,
  { timeout: THOROUGH ? 14_400_000 : 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-crowd-'));
    try {
      const file = join(folder, 'skein.db');
      const program = await programOf(join(import.meta.dirname, '../stores/support/crowd-worker.ts'));
      const workers = Array.from({ length: PROCESSES }, (_, n) =>
        startWriter([process.execPath, program, file, `p${n}`, String(RUNS)]),
      );
      const codes = await Promise.all(workers.map(({ ended }) => ended));
      const said = workers.flatMap((worker) => worker.said);
      expect(said.filter((line) => line.startsWith('thrown'))).toEqual([]);
      expect(codes).toEqual(codes.map(() => 0));
      const told = (word: string) => said.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' '));
      const removed = new Set(told('removed').map(([, id]) => id));
      const recorded = new Map(told('recorded').map(([, id = '', count]) => [id, Number(count)]));
      const answered = told('answered').filter(([, id]) => !removed.has(id));
      console.info(
        `note: ${PROCESSES} processes: ${recorded.size} runs, ${removed.size} removed, ${answered.length} answers to the others`,
      );
      const database = (await loadDriver()).open(file);
      expect(database.prepare('PRAGMA integrity_check').all([])).toEqual([{ integrity_check: 'ok' }]);
      database.close();
      const store = await openSqliteStore(file);
      const left = [...recorded.keys()].filter((id) => !removed.has(id));
      expect(store.list().map(({ id }) => id)).toHaveLength(left.length);
      for (const id of left) {
        const batches = store.read(id);
        expect(batches.map(({ seq }) => seq)).toEqual(Array.from({ length: recorded.get(id) ?? 0 }, (_, seq) => seq));
        for (const { seq, text } of batches) expect(JSON.parse(text)).toMatchObject({ id, seq });
        expect(store.run(id)).toMatchObject({ outcome: 'succeeded', batches: batches.length });
      }
      for (const [, id = '', ...key] of answered)
        expect(store.answers(id).map((answer) => answer.key)).toContain(key.join(' '));
      store.close();
      expect(removed.size).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
