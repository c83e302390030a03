import type { Command } from 'commander';
import { Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { printProblems } from '../failures.js';
import { loadWorkflow } from '../run/load-workflow.js';
import { printResult } from '../view/streams.js';

/** `skein graph FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument('<file>', 'the workflow file')
    .addOption(
      new Option('--format <format>', 'language of the drawing').choices(['mermaid', 'dot']).default('mermaid'),
    )
    .action(async (file: string, options: { readonly format: 'mermaid' | 'dot' }) => {
      done(await graph(file, options.format));
    });
}

async function graph(file: string, format: 'mermaid' | 'dot'): Promise<number> {
  const { workflow, problems, broken } = await loadWorkflow(file, { cwd: process.cwd() });
  printProblems(problems);
  if (broken || workflow.plan === undefined) return EXIT.invalid;
  const { toDot, toMermaid } = await import('../../index.js');
  printResult(format === 'dot' ? toDot(workflow.plan) : toMermaid(workflow.plan));
  return EXIT.ok;
}
