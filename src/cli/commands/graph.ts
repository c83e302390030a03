import type { Command } from 'commander';
import { Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { printProblems } from '../failures.js';
import { loadWorkflow } from '../run/load-workflow.js';
import type { JudgingFlags } from '../run/load-workflow.js';
import { addJudgingOptions } from '../run/run-options.js';
import { printResult } from '../view/streams.js';

/** `skein graph FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  addJudgingOptions(command)
    .argument('<file>', 'the workflow file')
    .addOption(
      new Option('--format <format>', 'language of the drawing').choices(['mermaid', 'dot']).default('mermaid'),
    )
    .action(async (file: string, options: GraphOptions) => {
      done(await graph(file, options));
    });
}

interface GraphOptions extends JudgingFlags {
  readonly format: 'mermaid' | 'dot';
}

async function graph(file: string, { format, strict = false, lenient = false }: GraphOptions): Promise<number> {
  const { workflow, problems, broken } = await loadWorkflow(file, { cwd: process.cwd(), strict, lenient });
  printProblems(problems);
  if (broken || workflow.plan === undefined) return EXIT.invalid;
  const { toDot, toMermaid } = await import('../../index.js');
  printResult(format === 'dot' ? toDot(workflow.plan) : toMermaid(workflow.plan));
  return EXIT.ok;
}
