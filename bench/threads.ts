import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlan, run } from '../src/index.js';
import type { Store } from '../src/index.js';
import { openSqliteStore } from '../src/sqlite.js';
import { median, printTable } from './measure.js';

const LONG = 5_000;
const SHORT = 10;
const GOAL = 1.3;
const ROUNDS = 60;

/** A conversation of one kind: each turn says a hundred characters. */
interface Kind {
  readonly name: string;
  readonly plan: ReturnType<typeof definePlan>;
  /** Why its turns get dearer; absent: they may not. Its long conversation is made by turns that don't. */
  readonly why?: string;
}

const SAID = 'x'.repeat(90);
const inputs = ['say'];
const KINDS: readonly Kind[] = [
  {
    name: 'adds to a list',
    plan: definePlan({
      name: 'adds',
      inputs,
      channels: { log: 'append' },
      nodes: [{ id: 'reply', run: ({ say }) => ({ log: `re: ${String(say)}` }) }],
    }),
  },
  {
    name: 'adds to a list, an object and a text',
    plan: definePlan({
      name: 'adds-all',
      inputs,
      channels: { log: 'extend', notes: 'mergeDict', text: 'add', sum: 'add' },
      nodes: [
        {
          id: 'reply',
          run: ({ say }) => ({ log: [say, 're'], notes: { [String(say).slice(0, 9)]: 1 }, text: String(say), sum: 1 }),
        },
      ],
    }),
  },
  {
    name: 'reads and writes a short value',
    plan: definePlan({
      name: 'counts',
      inputs,
      channels: { log: 'append' },
      nodes: [{ id: 'reply', run: ({ turns, say }) => ({ turns: Number(turns ?? 0) + 1, log: say }) }],
    }),
  },
  {
    name: 'reads the whole list',
    why: 'reads what was said',
    plan: definePlan({
      name: 'reads',
      inputs,
      channels: { log: 'append' },
      nodes: [{ id: 'reply', run: ({ log, say }) => ({ log: `${JSON.stringify(log ?? []).length} ${String(say)}` }) }],
    }),
  },
  {
    name: 'gives back the whole list, longer',
    why: 'reads what was said',
    plan: definePlan({
      name: 'copies',
      inputs,
      nodes: [{ id: 'reply', run: ({ log, say }) => ({ log: [...((log ?? []) as unknown[]), say] }) }],
    }),
  },
];

async function turn(store: Store, { plan }: Kind, thread: string, at: number): Promise<string> {
  const say = `${String(at).padStart(9, '0')} ${SAID}`;
  const { outcome, error, runId } = await run(plan, { store, thread, inputs: { say } }).result;
  if (outcome !== 'succeeded') throw new Error(`a turn ${outcome}: ${error?.message ?? ''}`);
  return runId;
}

/** Bytes that are recorded under a row. */
function bytesOf(store: Store, row: string, from = 0): number {
  return store.read(row, from).reduce((sum, batch) => sum + batch.text.length + batch.sum.length, 0);
}

interface Cost {
  readonly ms: number;
  readonly bytes: number;
}

/** What the next turn of a thread costs. */
async function costOf(store: Store, kind: Kind, thread: string, at: number): Promise<Cost> {
  const row = `thread:${thread}`;
  const before = store.run(row)?.batches ?? 0;
  const start = performance.now();
  const runId = await turn(store, kind, thread, at);
  return { ms: performance.now() - start, bytes: bytesOf(store, row, before) + bytesOf(store, runId) };
}

async function compare(store: Store, kind: Kind): Promise<readonly [Cost, Cost]> {
  const long = `${kind.plan.plan?.name ?? ''}-long`;
  const maker = kind.why === undefined ? kind : (KINDS[0] ?? kind);
  for (let at = 0; at < LONG - 1; at++) await turn(store, maker, long, at);
  const short: Cost[] = [];
  const last: Cost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const thread = `${kind.plan.plan?.name ?? ''}-${round}`;
    for (let at = 0; at < SHORT - 1; at++) await turn(store, kind, thread, at);
    short.push(await costOf(store, kind, thread, SHORT));
    last.push(await costOf(store, kind, long, LONG + round));
  }
  const middle = (costs: readonly Cost[]): Cost => ({
    ms: median(costs.map(({ ms }) => ms)),
    bytes: median(costs.map(({ bytes }) => bytes)),
  });
  return [middle(short), middle(last)];
}

/** What a turn of a long conversation costs, against one of a short one. Gives the goals that were missed. */
export async function benchThreads(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-threads-'));
  const missed: string[] = [];
  const rows: string[][] = [];
  try {
    for (const kind of KINDS) {
      const store = await openSqliteStore(join(folder, `${kind.plan.plan?.name ?? ''}.db`));
      const [short, long] = await compare(store, kind);
      store.close();
      const [time, bytes] = [long.ms / short.ms, long.bytes / short.bytes];
      const held = bytes <= GOAL && (time <= GOAL || kind.why !== undefined);
      if (!held)
        missed.push(`a turn that ${kind.name}: ${time.toFixed(2)} in time, ${bytes.toFixed(2)} in bytes, goal ${GOAL}`);
      rows.push([
        kind.name,
        short.ms.toFixed(2),
        long.ms.toFixed(2),
        time.toFixed(2),
        String(Math.round(short.bytes)),
        String(Math.round(long.bytes)),
        bytes.toFixed(2),
        held ? (kind.why ?? 'yes') : 'NO',
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  printTable(
    `A turn of a conversation of ${LONG} turns against the ${SHORT}th, in SQLite, median of ${ROUNDS}`,
    ['a turn that', `ms, ${SHORT}th`, `ms, ${LONG}th`, 'ratio', 'bytes', 'bytes', 'ratio', `<= ${GOAL}`],
    rows,
  );
  return missed;
}
