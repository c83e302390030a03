import { Option, type Command } from 'commander';
import { countText } from '../../base/text.js';
import { SkeinError } from '../../base/errors.js';
import { present } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import type { Workflow } from '../../plan/workflow.js';
import { EXIT, printProblems } from '../failures.js';
import {
  agentFilesOf,
  agentSources,
  loadWorkflow,
  lookAt,
  type JudgingFlags,
  type Loaded,
  type SurroundingFlags,
} from '../run/load-workflow.js';
import type { Power } from '../../plan.js';
import { isTrusted } from '../run/trusted-files.js';
import { OUTSIDE_OF_SANDBOX, powerLines, workflowPowers } from '../run/workflow-powers.js';
import { broughtBy } from '../talk/brought.js';
import { listLines, type TrustFlags } from '../run/trust-gate.js';
import { addJudgingOptions, trustOption } from '../run/run-options.js';
import { jsonText, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';

/** `skein validate FILE...`. */
export function define(command: Command, done: (code: number) => void): void {
  trustOption(addJudgingOptions(command))
    .argument('<files...>', 'workflow files')
    .addOption(new Option('--schema <version>', 'judge packs by one version of their schema').choices(['1.4', '1.5']))
    .option(
      '--powers',
      'list all that the files can do beyond reading the project, and whether you trust them; runs no module',
    )
    .option('--verbose', 'also list the keys that are kept and have no effect')
    .option('--json', 'print the problems as one JSON document')
    .action(async (files: readonly string[], options: ValidateOptions) => {
      done(await validate(files, options));
    });
}

interface ValidateOptions extends JudgingFlags, SurroundingFlags, TrustFlags {
  readonly json?: boolean;
  readonly powers?: boolean;
  readonly verbose?: boolean;
  readonly schema?: '1.4' | '1.5';
}

interface Report {
  readonly file: string;
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  /** What a run could do beyond reading the project. Absent for a file without a plan. */
  readonly powers?: readonly Power[];
  /** Whether the user has agreed to these powers, if requested. */
  readonly trusted?: boolean;
  /** What Skein can't keep its programs from, if requested. */
  readonly notPromised?: readonly string[];
  readonly agentFiles?: Readonly<Record<string, string>>;
  /** Parts that are kept and have no effect. */
  readonly kept?: readonly string[];
  /** Tools whose existence only a run can check. */
  readonly unchecked?: readonly string[];
}

async function validate(files: readonly string[], options: ValidateOptions): Promise<number> {
  if (options.powers === true) return await listPowers(files, options);
  const { json = false, tools, config, trust } = options;
  const cwd = process.cwd();
  const pack =
    tools === undefined ? undefined : { ...(await broughtBy({ tools, ...present({ trust }) }, cwd)), onlyLooked: true };
  const reports: Report[] = [];
  for (const file of files) {
    const loaded = await loadWorkflow(file, {
      ...present({
        strict: options.strict,
        lenient: options.lenient,
        packSchema: options.schema,
        pack,
        tools,
        config,
        trust,
      }),
      cwd,
      checkTools: true,
      budgets: async () => await (await import('../run/plan-cost.js')).foreseen({}),
    });
    checkSchema(options.schema, file, loaded.workflow);
    const report = await reportOf(file, loaded, options);
    reports.push(report);
    if (json) continue;
    printProblems(report.problems);
    printVerdict(report);
    agentSources(loaded.workflow).forEach(printNote);
  }
  const valid = reports.every((report) => report.valid);
  if (json) printResult(jsonText({ valid, files: reports }));
  return valid ? EXIT.ok : EXIT.invalid;
}

async function reportOf(
  file: string,
  { workflow, problems, broken }: Loaded,
  { verbose = false }: ValidateOptions,
): Promise<Report> {
  const { plan, kept, unchecked = [] } = workflow;
  const powers = plan && (await workflowPowers(workflow, process.cwd()));
  return {
    ...present({ file, valid: !broken, problems, powers }),
    ...agentFilesOf(workflow),
    ...present({ kept: verbose ? kept : undefined, unchecked: unchecked.length > 0 ? unchecked : undefined }),
  };
}

function printVerdict({ file, valid, problems, powers = [], kept = [], unchecked = [] }: Report): void {
  if (!valid) return printNote(`${printable(file)} is not valid: ${countErrors(problems)}`);
  printResult(`${printable(file)} is valid`);
  const outward = powers.filter(({ kind }) => kind === 'starts' || kind === 'reaches');
  for (const line of powerLines(outward)) printResult(`  ${line}`);
  for (const part of kept) printResult(`  kept, without effect: ${printable(part)}`);
  if (unchecked.length > 0)
    printResult(
      `  not checked: who carries out ${printable(unchecked.join(', '))} (--tools MODULE brings functions along)`,
    );
}

/** Lists what files can do, and whether the user has agreed to it. Modules are not loaded, so none of their code runs. */
async function listPowers(files: readonly string[], options: ValidateOptions): Promise<number> {
  const reports: Report[] = [];
  for (const file of files) {
    const looked = await lookAt(file, { ...options, cwd: process.cwd() });
    if ('problems' in looked) {
      reports.push({ file, valid: false, problems: looked.problems });
      printProblems(looked.problems);
      continue;
    }
    const { powers } = looked.subject;
    const trusted = powers.length === 0 || (await isTrusted(looked.subject));
    const notPromised = await missingPromises(powers);
    reports.push({ file, valid: true, problems: [], powers, trusted, ...present({ notPromised }) });
    if (options.json === true) continue;
    const verdict =
      powers.length === 0 ? 'can only read the project' : trusted ? 'is trusted as it is' : 'is not trusted';
    printResult(`${printable(file)} ${verdict}`);
    for (const line of listLines(looked.subject)) printResult(`  ${line}`);
    notPromised?.forEach(printNote);
  }
  const valid = reports.every((report) => report.valid);
  if (options.json === true) printResult(jsonText({ valid, files: reports }));
  return valid ? EXIT.ok : EXIT.invalid;
}

/** What can't be promised about the programs that a file starts. Undefined if all of them run in a working sandbox. */
async function missingPromises(powers: readonly Power[]): Promise<readonly string[] | undefined> {
  const programs = powers.filter(({ kind }) => kind === 'starts');
  const found: string[] = [];
  if (programs.some(({ sandbox }) => sandbox === undefined)) found.push(OUTSIDE_OF_SANDBOX);
  if (programs.some(({ sandbox }) => sandbox !== undefined)) {
    const { describeSandbox } = await import('../../agent/index.js');
    const sandbox = await describeSandbox();
    if ('problem' in sandbox)
      found.push(`this machine has no sandbox that works, so runs of it fail: ${sandbox.problem}`);
  }
  return found.length === 0 ? undefined : found;
}

/** @throws SkeinError `SKEIN_USAGE` */
function checkSchema(schema: string | undefined, file: string, { plan }: Pick<Workflow, 'plan'>): void {
  if (schema === undefined || plan === undefined || plan.notation === 'machine') return;
  const hint = 'leave out --schema; skein schema lists the schemas of files';
  throw new SkeinError('SKEIN_USAGE', `--schema is for packs; ${file} is not a pack`, { hint });
}

function countErrors(problems: readonly { readonly severity: string }[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  return countText(errors, 'error');
}
