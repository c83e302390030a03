// Runs or resumes workflows of certain shapes in a process of its own, until it ends or is killed. Its argument is an order in JSON, see Order; without one, it
// takes orders from the process that started it, one after the other.
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toErrorData } from '../../../src/base/errors.js';
import { exitCodeOf, exitCodeOfError } from '../../../src/cli/failures.js';
import { carryOut } from './carried-out.js';
import type { Order, Served } from './process.js';

async function once(order: Order): Promise<number> {
  try {
    // The other end of the pipe counts the lines.
    const result = await carryOut(order, (line) => void writeSync(1, `${line}\n`));
    writeFileSync(join(order.dir, 'result.json'), JSON.stringify(result));
    return exitCodeOf(result.outcome, { strict: false, error: result.error });
  } catch (error) {
    writeSync(2, `${JSON.stringify(toErrorData(error))}\n`);
    return exitCodeOfError(error);
  }
}

const [, , text] = process.argv;
if (text === undefined) {
  process.on('disconnect', () => process.exit());
  process.on('message', (order) => {
    carryOut(order as Order, () => undefined).then(
      (result) => process.send?.({ result } satisfies Served),
      (error: unknown) => process.send?.({ error: toErrorData(error) } satisfies Served),
    );
  });
} else process.exitCode = await once(JSON.parse(text) as Order);
