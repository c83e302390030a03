import type { Problem } from '../../../src/base/problem.js';
import type { PipelineDef, StepDef } from '../../../src/notations/pipeline/definition.js';
import { readPipeline } from '../../../src/notations/pipeline/read-pipeline.js';
import { createFindings, sortProblems } from '../../../src/text/findings.js';
import { openText } from '../../../src/notations/opened-file.js';
import { brief } from './run-pipeline.js';

const AGENTS = 'agents:\n  a: {instruction: x}\n  b: {instruction: x}\n';

/** A file as it was read. */
export interface Read {
  readonly definition: PipelineDef | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a whole file; references are not resolved. */
export function readFile(text: string): Read {
  const findings = createFindings();
  const { content, problems } = openText(text, 'flow.yaml', '/flow.yaml').yaml();
  findings.add(problems);
  const definition = content === undefined ? undefined : readPipeline(content.root, 'flow', findings);
  return { definition, problems: sortProblems(findings.list) };
}

/** Reads a file with the agents `a` and `b` from the value of `workflow`, which begins on line 5. */
export function readWorkflow(workflow: string): Read {
  return readFile(`${AGENTS}workflow:\n${workflow}`);
}

/** The steps of a file that must be right. */
export function stepsOf(workflow: string): readonly StepDef[] {
  const { definition, problems } = readWorkflow(workflow);
  if (definition === undefined || problems.length > 0) throw new Error(brief(problems).join('\n'));
  return definition.steps;
}

/** What is wrong with the value of `workflow`: `line:column severity code`. */
export function wrong(workflow: string): readonly string[] {
  return brief(readWorkflow(workflow).problems);
}

/** The same in words: `message (hint)`. */
export function told(workflow: string): readonly string[] {
  return readWorkflow(workflow).problems.map(({ message, hint }) => `${message} (${hint ?? 'no hint'})`);
}
