import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunResult } from '../../../src/engine/run.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import type { Order } from './process.js';
import { session } from './session.js';
import { SHAPES } from './shapes.js';
import type { World } from './world.js';

/** Runs or resumes what an order says, in this process; `tell` gets each line of the ledger when it is in there. */
export async function carryOut(order: Order, tell: (line: string) => void): Promise<RunResult> {
  const { dir, edition, pace, runId, shape } = order;
  const note = (line: string): void => {
    appendFileSync(join(dir, 'ledger.txt'), `${line}\n`);
    tell(line);
  };
  const world: World = {
    cwd: dir,
    receiver: join(dir, 'received.txt'),
    receive: (key) => appendFileSync(world.receiver, `${key}\n`),
    async perform(key) {
      note(`did ${key}`);
      await pause(Math.random() * pace);
    },
  };
  const build = SHAPES[shape];
  if (build === undefined) throw new Error(`no shape ${shape}`);
  const built = await build(world, edition);
  const store = await openSqliteStore(join(dir, 'skein.db'), { durability: order.durability });
  try {
    note('began');
    // A run that was killed before its first record never began: as its error says, it is started again.
    if (store.run(runId) !== undefined && store.read(runId).length === 0) store.remove([runId], Date.now());
    const how = store.run(runId) === undefined ? { runId } : { resume: runId };
    return await session(built, store, {
      ...how,
      listeners: [
        (event) => {
          if (event.type === 'step.ended' && event.outcome === 'succeeded' && event.replayed !== true)
            note(`ack ${event.path}`);
        },
      ],
    });
  } finally {
    store.close();
  }
}
