import type { Command } from 'commander';
import { hasErrors } from '../../base/problem.js';
import { EXIT, printProblems, refusalReport } from '../failures.js';
import { addValueOptions, readInputs, type GivenInput } from '../run/given-inputs.js';
import { agentFilesOf, agentSources, loadWorkflow, notesOf, type JudgingFlags } from '../run/load-workflow.js';
import { costOfPlan, foreseen, planCostLines, type PricingFlags } from '../run/plan-cost.js';
import { openedPolicies, policyLines } from '../run/project.js';
import { planLines } from '../run/plan-lines.js';
import { workflowPowers } from '../run/workflow-powers.js';
import type { TrustFlags } from '../run/trust-gate.js';
import type { JsonFlag } from '../run/run-flags.js';
import { addJudgingOptions, policyOption, pricesOption, trustOption } from '../run/run-options.js';
import { jsonText, printable } from '../view/printable.js';
import { printResult } from '../view/streams.js';
import { styleFor } from '../view/style.js';

/** `skein plan FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  trustOption(addJudgingOptions(command)).argument('<file>', 'the workflow file');
  const inputs = addValueOptions(command, '-i, --input', 'an input, to show it in the prompts');
  command
    .option('--json', 'print one JSON document')
    .option('-m, --model <provider/model>', 'the model for all agents, as for a run')
    .addOption(pricesOption())
    .addOption(policyOption())
    .option('--no-color', 'no colours')
    .action(async (file: string, options: ParsedOptions) => {
      done(await planCommand(file, { ...options, inputs }));
    });
}

interface ParsedOptions extends JudgingFlags, JsonFlag, PricingFlags, TrustFlags {
  readonly color: boolean;
  readonly policy?: string;
}

/** Shows what a run would do. Missing required inputs are listed. */
export async function planCommand(
  file: string,
  options: ParsedOptions & {
    readonly inputs: readonly GivenInput[];
    /** Values to show for inputs that are not given, by name. */
    readonly defaults?: Readonly<Record<string, string>>;
  },
): Promise<number> {
  const cwd = process.cwd();
  const inputs = await readInputs(options.inputs, cwd);
  // Without any value, undeclared inputs are unknown, so all problems about inputs come from the file.
  const { workflow, problems } = await loadWorkflow(file, {
    ...options,
    cwd,
    inputs,
    checkTools: true,
    budgets: () => foreseen(options),
  });
  const found = problems.filter((problem) => problem.code !== 'missing-input');
  printProblems(found);
  if (workflow.plan === undefined || hasErrors(found)) {
    if (options.json === true) printResult(refusalReport({ valid: false, problems: found }));
    return EXIT.invalid;
  }
  const powers = await workflowPowers(workflow, cwd);
  const { describePlan, withModel } = await import('../run/plan-report.js');
  const described = describePlan({ ...workflow, plan: workflow.plan, powers }, inputs, options.defaults);
  const policies = await openedPolicies(options.policy, cwd);
  const cost = await costOfPlan(workflow.plan, options);
  const description = options.model === undefined ? described : withModel(described, options.model);
  if (options.json === true)
    printResult(
      jsonText({
        valid: true,
        problems: found,
        ...description,
        cost,
        ...(policies.length === 0 ? {} : { policies }),
        ...agentFilesOf(workflow),
        ...notesOf(workflow),
      }),
    );
  else {
    const style = styleFor(process.stdout, options.color);
    const sources = [...agentSources(workflow), ...policyLines(policies), ...(workflow.notes ?? []).map(printable)];
    const { traitsOf } = await import('../../plan.js');
    const inOrder = traitsOf(workflow.plan.notation).inOrder === true;
    const lines = planLines(description, style, { inOrder, cost: planCostLines(cost) });
    printResult([...lines, ...(sources.length === 0 ? [] : ['', ...sources])].join('\n'));
  }
  return EXIT.ok;
}
