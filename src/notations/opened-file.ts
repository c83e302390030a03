import { basename, dirname, extname, join, resolve } from 'node:path';
import { madeOnce } from '../base/collections.js';
import type { Problem } from '../base/problem.js';
import { suggest } from '../base/suggest.js';
import type { SourceFile } from '../plan/workflow.js';
import type { ListResult, MayRead, ReadResult } from '../text/files.js';
import { NOT_READ, listMarkdown, listNames, readText, reportUnread, shownPath } from '../text/files.js';
import { createFindings, visibleText } from '../text/findings.js';
import type { SourceNode } from '../text/nodes.js';
import type { ParsedYaml } from '../text/yaml.js';
import { parseYaml } from '../text/yaml.js';

/** A workflow file that was opened, for whichever notation it is written in. */
export interface OpenedFile {
  /** As it is shown in positions. */
  readonly file: string;
  readonly source: SourceFile;
  /** The file as YAML. It is parsed when this is first asked for, and once. */
  readonly yaml: () => OpenedYaml;
}

/** A file that was read as YAML. */
export interface OpenedYaml {
  /** Absent: there is nothing to continue with, and the problems say why. */
  readonly content: { readonly yaml: ParsedYaml; readonly root: SourceNode } | undefined;
  readonly problems: readonly Problem[];
}

/** After these the text was not read as it was meant, and every further finding would be noise. */
const FATAL: ReadonlySet<string> = new Set(['yaml-limit', 'yaml-syntax', 'yaml-documents']);

/** Where a workflow file is opened, and what may be read. */
interface Opening {
  readonly cwd: string;
  readonly mayRead?: MayRead;
}

/** Opens a workflow file. One that can't be read is a list of problems: `file-missing` and the like. */
export async function openFile(file: string, { cwd, mayRead }: Opening): Promise<OpenedFile | readonly Problem[]> {
  const path = resolve(cwd, file);
  const text = mayRead?.(path) === false ? NOT_READ : await readText(path);
  if (text.ok) return openText(text.text, file, path);
  const findings = createFindings();
  const near = text.failure === 'missing' ? await nearFile(path, file) : undefined;
  const unread = near === undefined ? text : { ...text, hint: near };
  reportUnread(unread, `the workflow file ${file}`, { file, line: 1, column: 1 }, findings);
  return findings.list;
}

const ENDINGS = ['.yaml', '.yml', '.ts', '.js', '.json', '.pack.json', '.agent'];

/** What was meant by a file that is not there: its name without the ending, or misspelt. */
async function nearFile(path: string, file: string): Promise<string | undefined> {
  const names = await listNames(dirname(path));
  const name = basename(path);
  const ending = ENDINGS.find((end) => names.includes(name + end));
  if (ending !== undefined) return `did you mean ${file}${ending}?`;
  const meant = suggest(
    name,
    names.filter((one) => ENDINGS.includes(extname(one)) || one === 'Agentfile'),
  );
  return meant === undefined ? undefined : `did you mean ${join(dirname(file), meant)}?`;
}

/** The same for the text of a file. */
export function openText(text: string, file: string, path: string): OpenedFile {
  let parsed: OpenedYaml | undefined;
  return { file, source: { path, text }, yaml: () => (parsed ??= readYaml(text, file)) };
}

/** Problem codes: `empty-file`, and those of the YAML reader. */
function readYaml(text: string, file: string): OpenedYaml {
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
  return { content: isEmpty || isFatal ? undefined : { yaml, root }, problems: findings.list };
}

/** The files around a workflow: where paths start, each file read once, and which ones the workflow is made of. */
export interface Workspace {
  /** The working directory, absolute. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** The directory of the workflow file, absolute. */
  readonly base: string;
  /** A path as messages and positions show it. */
  shown(path: string): string;
  read(path: string): Promise<ReadResult>;
  /** Names of the Markdown files of a folder. */
  list(path: string): Promise<ListResult>;
  /** Records that the workflow is made of this file too. */
  use(path: string, text: string): void;
  readonly used: readonly SourceFile[];
}

/** A workspace for one loading of a workflow. */
export function openWorkspace(
  places: Pick<Workspace, 'cwd' | 'home' | 'base'>,
  mayRead: MayRead = () => true,
): Workspace {
  const results = new Map<string, Promise<ReadResult>>();
  const used = new Map<string, SourceFile>();
  return {
    ...places,
    shown: (path) => visibleText(shownPath(path, places.cwd)),
    read: (path) => madeOnce(results, path, async () => (mayRead(path) ? await readText(path) : NOT_READ)),
    list: async (path) => (mayRead(path) ? await listMarkdown(path) : NOT_READ),
    use: (path, text) => {
      used.set(path, { path, text });
    },
    get used() {
      return [...used.values()];
    },
  };
}
