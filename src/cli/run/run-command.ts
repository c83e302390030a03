import { SkeinError, toErrorData } from '../../base/errors.js';
import { EXIT, exitCodeOfError } from '../exit-codes.js';
import { printFailure, printProblems, problemsOf } from '../failures.js';
import { printResult } from '../view/streams.js';
import { RunLog } from '../view/run-log.js';
import type { RunFlags } from './execute-run.js';
import { executeRun } from './execute-run.js';
import { readInputs } from './given-inputs.js';
import { loadWorkflow } from './load-workflow.js';
import { refusalReport } from './run-report.js';

/**
 * `skein run`: loads, checks, runs, prints, and gives the exit code.
 *
 * @throws SkeinError what keeps the run from starting, unless `--json` asks for it as a document.
 */
export async function runCommand(flags: RunFlags): Promise<number> {
  try {
    return await loadAndRun(flags);
  } catch (error) {
    if (flags.json !== true || !SkeinError.isInstance(error)) throw error;
    printFailure(error);
    const exitCode = exitCodeOfError(error);
    printResult(refusalReport({ problems: problemsOf(error), error: toErrorData(error), exitCode }));
    return exitCode;
  }
}

async function loadAndRun(flags: RunFlags): Promise<number> {
  const cwd = process.cwd();
  const inputs = await readInputs(flags.inputs, cwd);
  const { workflow, problems, broken } = await loadWorkflow(flags.file, {
    cwd,
    inputs,
    interactive: flags.interactive ?? false,
  });
  printProblems(problems);
  if (broken || workflow.plan === undefined) {
    if (flags.json === true) printResult(refusalReport({ problems }));
    return EXIT.invalid;
  }
  return await executeRun({ flags, cwd, workflow, inputs, log: new RunLog(workflow.plan) });
}
