import { fileError } from '../base/problem.js';
import { createFindings, type Findings } from './findings.js';
import type { SourceNode } from './nodes.js';
import { parseYaml } from './yaml.js';

/** A file other than a workflow. */
interface WholeFile {
  /** The path shown in positions. */
  readonly file: string;
  /** Its name in the error: `the prices prices.yaml have problems`. */
  readonly problem: string;
  readonly hint: string;
}

/**
 * Reads a text, YAML or JSON, with `read`, and reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export function readWhole<T>(
  text: string,
  { file, problem, hint }: WholeFile,
  read: (root: SourceNode, findings: Findings) => T | undefined,
): T {
  const findings = createFindings();
  const { root, problems, places } = parseYaml(text, file, { aliases: false });
  findings.add(problems);
  const empty: SourceNode = { kind: 'scalar', value: null, text: '', at: places.at(0), range: [0, 0] };
  const found = problems.length > 0 ? undefined : read(root ?? empty, findings);
  if (found === undefined || findings.list.length > 0) throw fileError(problem, findings.list, hint);
  return found;
}
