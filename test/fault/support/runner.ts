// Runs or resumes a workflow of a certain shape in a process of its own, until it ends or is killed. Its argument is JSON, see Order.
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toErrorData } from '../../../src/base/errors.js';
import { exitCodeOf, exitCodeOfError } from '../../../src/cli/failures.js';
import { carryOut } from './carried-out.js';
import type { Order } from './process.js';

const order = JSON.parse(process.argv[2] ?? '') as Order;

try {
  // The other end of the pipe counts the lines.
  const result = await carryOut(order, (line) => void writeSync(1, `${line}\n`));
  writeFileSync(join(order.dir, 'result.json'), JSON.stringify(result));
  process.exitCode = exitCodeOf(result.outcome, { strict: false, error: result.error });
} catch (error) {
  writeSync(2, `${JSON.stringify(toErrorData(error))}\n`);
  process.exitCode = exitCodeOfError(error);
}
