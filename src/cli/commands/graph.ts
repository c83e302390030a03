import { Option, type Command } from 'commander';
import { EXIT, printProblems } from '../failures.js';
import { loadWorkflow, type JudgingFlags } from '../run/load-workflow.js';
import type { TrustFlags } from '../run/trust-gate.js';
import { addJudgingOptions, trustOption } from '../run/run-options.js';
import type { Drawing } from '../../plan/drawing.js';
import { hasUnicode, styleFor } from '../view/style.js';
import { printResult } from '../view/streams.js';

const FORMATS = ['boxes', 'svg', 'mermaid', 'dot'] as const;

/** `skein graph FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  trustOption(addJudgingOptions(command))
    .argument('<file>', 'the workflow file')
    .addOption(
      new Option('--format <format>', 'boxes for a terminal, a picture as SVG, or the text of a drawing language')
        .choices(FORMATS)
        .default('boxes'),
    )
    .action(async (file: string, options: GraphOptions) => {
      done(await graph(file, options));
    });
}

interface GraphOptions extends JudgingFlags, TrustFlags {
  readonly format: (typeof FORMATS)[number];
}

async function graph(file: string, options: GraphOptions): Promise<number> {
  const { workflow, problems, broken } = await loadWorkflow(file, { ...options, cwd: process.cwd() });
  printProblems(problems);
  if (broken || workflow.plan === undefined) return EXIT.invalid;
  const { drawingOf } = await import('../../draw.js');
  printResult(await picture(workflow.drawing ?? drawingOf(workflow.plan), options.format));
  return EXIT.ok;
}

async function picture(drawing: Drawing, format: GraphOptions['format']): Promise<string> {
  const { boxesOf, dotOf, mermaidOf, paintSvg } = await import('../../draw.js');
  switch (format) {
    case 'svg':
      return paintSvg(drawing);
    case 'dot':
      return dotOf(drawing);
    case 'mermaid':
      return mermaidOf(drawing);
    case 'boxes': {
      const { warn } = styleFor(process.stdout);
      return boxesOf(drawing, { unicode: hasUnicode(), columns: process.stdout.columns, warn });
    }
  }
}
