// Runs or resumes a workflow of a certain shape in a process of its own, until it ends or is killed. Its argument is JSON, see Order.
import { appendFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toErrorData } from '../../../src/base/errors.js';
import { exitCodeOf, exitCodeOfError } from '../../../src/cli/failures.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import type { Order } from './process.js';
import { session } from './session.js';
import { SHAPES } from './shapes.js';
import type { World } from './world.js';

const order = JSON.parse(process.argv[2] ?? '') as Order;
const { dir, edition, pace, runId, shape } = order;
const ledger = join(dir, 'ledger.txt');

/** One line, before anything else happens; the other end of the pipe counts them. */
function tell(line: string): void {
  appendFileSync(ledger, `${line}\n`);
  writeSync(1, `${line}\n`);
}

const world: World = {
  cwd: dir,
  receiver: join(dir, 'received.txt'),
  receive: (key) => appendFileSync(world.receiver, `${key}\n`),
  async perform(key) {
    tell(`did ${key}`);
    await pause(Math.random() * pace);
  },
};

async function main(): Promise<number> {
  const build = SHAPES[shape];
  if (build === undefined) throw new Error(`no shape ${shape}`);
  const built = await build(world, edition);
  const store = await openSqliteStore(join(dir, 'skein.db'), { durability: order.durability });
  tell('began');
  // A run that was killed before its first record never began: as its error says, it is started again.
  if (store.run(runId) !== undefined && store.read(runId).length === 0) store.remove([runId], Date.now());
  const how = store.run(runId) === undefined ? { runId } : { resume: runId };
  const result = await session(built, store, {
    ...how,
    listeners: [
      (event) => {
        if (event.type === 'step.ended' && event.outcome === 'succeeded' && event.replayed !== true)
          tell(`ack ${event.path}`);
      },
    ],
  });
  writeFileSync(join(dir, 'result.json'), JSON.stringify(result));
  return exitCodeOf(result.outcome, { strict: false, error: result.error });
}

try {
  process.exitCode = await main();
} catch (error) {
  writeSync(2, `${JSON.stringify(toErrorData(error))}\n`);
  process.exitCode = exitCodeOfError(error);
}
