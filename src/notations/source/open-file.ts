import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Position, Problem } from '../../base/problem.js';
import { suggest } from '../../base/suggest.js';
import type { SourceFile, Workflow } from '../../plan/workflow.js';
import { readText } from './files.js';
import type { Unread } from './files.js';
import { createFindings, sortProblems } from './findings.js';
import type { Findings } from './findings.js';
import type { SourceNode } from './nodes.js';
import { parseYaml } from './yaml.js';
import type { ParsedYaml } from './yaml.js';

/** A workflow file that was opened and parsed once, for whichever notation it is written in. */
export interface OpenedFile {
  /** As it is shown in positions. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  /** Absent: the file could not be read. */
  readonly source: SourceFile | undefined;
  /** Absent: there is nothing to continue with, and the problems say why. */
  readonly content: { readonly yaml: ParsedYaml; readonly root: SourceNode } | undefined;
  readonly problems: readonly Problem[];
}

/** After these the text was not read as it was meant, and every further finding would be noise. */
const FATAL: ReadonlySet<string> = new Set(['yaml-limit', 'yaml-syntax', 'yaml-documents']);

/**
 * Opens a workflow file. Problem codes: `file-missing` and the like, `empty-file`, and those of the YAML reader.
 *
 * @example
 * const opened = await openFile('review.yaml', '/project');
 */
export async function openFile(file: string, cwd: string): Promise<OpenedFile> {
  const path = resolve(cwd, file);
  const text = await readText(path);
  if (text.ok) return openText(text.text, file, path);
  const findings = createFindings();
  const near = text.failure === 'missing' ? await nearFile(path, file) : undefined;
  reportUnread(
    near === undefined ? text : { ...text, hint: near },
    `the workflow file ${file}`,
    { file, line: 1, column: 1 },
    findings,
  );
  return { file, path, source: undefined, content: undefined, problems: findings.list };
}

const ENDINGS = ['.yaml', '.yml', '.ts', '.js'];

/** What was meant by a file that is not there: its name without the ending, or misspelt. */
async function nearFile(path: string, file: string): Promise<string | undefined> {
  const names = await readdir(dirname(path)).catch((): string[] => []);
  const name = basename(path);
  const ending = ENDINGS.find((end) => names.includes(name + end));
  if (ending !== undefined) return `did you mean ${file}${ending}?`;
  const meant = suggest(
    name,
    names.filter((one) => ENDINGS.includes(extname(one))),
  );
  return meant === undefined ? undefined : `did you mean ${join(dirname(file), meant)}?`;
}

/**
 * The same for the text of a file.
 *
 * @example
 * const opened = openText('name: review', 'review.yaml', '/project/review.yaml');
 */
export function openText(text: string, file: string, path: string): OpenedFile {
  const source: SourceFile = { path, text };
  const findings = createFindings();
  const yaml = parseYaml(text, file);
  findings.add(yaml.problems);
  const { root } = yaml;
  const isFatal = yaml.problems.some((problem) => FATAL.has(problem.code));
  const isEmpty = root === undefined || (root.kind === 'scalar' && root.value === null);
  if (isEmpty && !isFatal) {
    const hint = 'begin with "name: NAME" and "steps:", or with "agents:" and "workflow:"';
    findings.error('empty-file', 'the workflow file is empty', { file, line: 1, column: 1 }, hint);
  }
  const content = isEmpty || isFatal ? undefined : { yaml, root };
  return { file, path, source, content, problems: findings.list };
}

/**
 * Reports a file or directory that could not be read, under the code `file-missing`, `file-unreadable` ...
 *
 * @example
 * reportUnread(result, 'agent file agents/critic.md', at, findings);
 */
export function reportUnread(result: Unread, what: string, at: Position | undefined, findings: Findings): void {
  findings.error(`file-${result.failure}`, `${what} ${result.message}`, at, result.hint);
}

/**
 * A workflow of which only the problems are known.
 *
 * @example
 * if (opened.content === undefined) return unusable(opened.problems, []);
 */
export function unusable(problems: readonly Problem[], files: readonly SourceFile[]): Workflow {
  return {
    plan: undefined,
    bindings: {},
    settings: { output: { format: 'markdown' } },
    files,
    problems: sortProblems(problems),
  };
}
