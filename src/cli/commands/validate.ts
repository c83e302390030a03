import type { Command } from 'commander';
import { EXIT, printProblems } from '../failures.js';
import { agentFilesOf, agentSources, loadWorkflow } from '../run/load-workflow.js';
import type { Power } from '../../plan.js';
import { powerLines } from '../run/plan-lines.js';
import type { JudgingFlags } from '../run/load-workflow.js';
import { addJudgingOptions } from '../run/run-options.js';
import { jsonText, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';

/** `skein validate FILE...`. */
export function define(command: Command, done: (code: number) => void): void {
  addJudgingOptions(command)
    .argument('<files...>', 'workflow files')
    .option('--json', 'print the problems as one JSON document')
    .action(async (files: readonly string[], options: ValidateOptions) => {
      done(await validate(files, options));
    });
}

interface ValidateOptions extends JudgingFlags {
  readonly json?: boolean;
}

interface Report {
  readonly file: string;
  readonly valid: boolean;
  readonly problems: readonly unknown[];
  /** What a run would start and reach outside of itself; absent for a file that makes no plan. */
  readonly powers?: readonly Power[];
  /** Which file each agent came from, by its name. */
  readonly agentFiles?: Readonly<Record<string, string>>;
}

async function validate(files: readonly string[], options: ValidateOptions): Promise<number> {
  const { json = false, strict = false, lenient = false } = options;
  const { powersOf } = await import('../../plan.js');
  const reports: Report[] = [];
  for (const file of files) {
    const { broken, problems, workflow } = await loadWorkflow(file, {
      cwd: process.cwd(),
      strict,
      lenient,
      checkTools: true,
    });
    const powers = workflow.plan === undefined ? undefined : powersOf(workflow.plan);
    reports.push({ file, valid: !broken, problems, ...(powers && { powers }), ...agentFilesOf(workflow) });
    if (json) continue;
    printProblems(problems);
    if (broken) printNote(`${printable(file)} is not valid: ${countErrors(problems)}`);
    else {
      printResult(`${printable(file)} is valid`);
      for (const line of powerLines(powers ?? [])) printResult(`  ${line}`);
    }
    agentSources(workflow).forEach(printNote);
  }
  const valid = reports.every((report) => report.valid);
  if (json) printResult(jsonText({ valid, files: reports }));
  return valid ? EXIT.ok : EXIT.invalid;
}

function countErrors(problems: readonly { readonly severity: string }[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  return errors === 1 ? '1 error' : `${errors} errors`;
}
