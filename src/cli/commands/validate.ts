import type { Command } from 'commander';
import { Option } from 'commander';
import { SkeinError } from '../../base/errors.js';
import type { Problem } from '../../base/problem.js';
import type { Workflow } from '../../plan/workflow.js';
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
    .addOption(new Option('--schema <version>', 'judge packs by one version of their schema').choices(['1.4', '1.5']))
    .option('--verbose', 'also tell what is kept of a file and has no effect')
    .option('--json', 'print the problems as one JSON document')
    .action(async (files: readonly string[], options: ValidateOptions) => {
      done(await validate(files, options));
    });
}

interface ValidateOptions extends JudgingFlags {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly schema?: '1.4' | '1.5';
}

interface Report {
  readonly file: string;
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  /** What a run would start and reach outside of itself; absent for a file that makes no plan. */
  readonly powers?: readonly Power[];
  /** Which file each agent came from, by its name. */
  readonly agentFiles?: Readonly<Record<string, string>>;
  /** Parts that are kept and have no effect. */
  readonly kept?: readonly string[];
}

async function validate(files: readonly string[], options: ValidateOptions): Promise<number> {
  const { json = false, strict = false, lenient = false, verbose = false, schema } = options;
  const { powersOf } = await import('../../plan.js');
  const reports: Report[] = [];
  for (const file of files) {
    const { broken, problems, workflow } = await loadWorkflow(file, {
      cwd: process.cwd(),
      strict,
      lenient,
      checkTools: true,
      ...(schema && { packSchema: schema }),
    });
    checkSchema(schema, file, workflow);
    const kept = verbose ? workflow.kept : undefined;
    const powers = workflow.plan === undefined ? undefined : powersOf(workflow.plan);
    const report = { file, valid: !broken, problems, ...(powers && { powers }), ...agentFilesOf(workflow) };
    reports.push({ ...report, ...(kept && { kept }) });
    if (json) continue;
    printProblems(problems);
    printVerdict(report, kept ?? []);
    agentSources(workflow).forEach(printNote);
  }
  const valid = reports.every((report) => report.valid);
  if (json) printResult(jsonText({ valid, files: reports }));
  return valid ? EXIT.ok : EXIT.invalid;
}

function printVerdict({ file, valid, problems, powers = [] }: Report, kept: readonly string[]): void {
  if (!valid) return printNote(`${printable(file)} is not valid: ${countErrors(problems)}`);
  printResult(`${printable(file)} is valid`);
  for (const line of powerLines(powers)) printResult(`  ${line}`);
  for (const part of kept) printResult(`  kept, without effect: ${printable(part)}`);
}

/** @throws SkeinError `SKEIN_USAGE` */
function checkSchema(schema: string | undefined, file: string, { plan }: Pick<Workflow, 'plan'>): void {
  if (schema === undefined || plan === undefined || plan.notation === 'machine') return;
  const hint = 'leave out --schema; skein schema lists the schemas of files';
  throw new SkeinError('SKEIN_USAGE', `--schema is for packs, and ${file} is none`, { hint });
}

function countErrors(problems: readonly { readonly severity: string }[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  return errors === 1 ? '1 error' : `${errors} errors`;
}
