import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { madeOnce } from '../base/collections.js';
import type { Problem } from '../base/problem.js';
import { suggest } from '../base/suggest.js';
import type { SourceFile } from '../plan/workflow.js';
import {
  NOT_READ,
  listMarkdown,
  listNames,
  readText,
  reportUnread,
  shownPath,
  type ListResult,
  type MayRead,
  type ReadResult,
} from '../text/files.js';
import { createFindings, visibleText } from '../text/findings.js';
import { isNothing, type SourceNode } from '../text/nodes.js';
import { parseYaml, type ParsedYaml } from '../text/yaml.js';

export interface OpenedFile {
  readonly file: string;
  readonly source: SourceFile;
  /** Parses the file as YAML on the first call, and only once. */
  readonly yaml: () => OpenedYaml;
}

export interface OpenedYaml {
  /** Undefined if the file cannot be used; the problems say why. */
  readonly content: { readonly yaml: ParsedYaml; readonly root: SourceNode } | undefined;
  readonly problems: readonly Problem[];
}

/** Problems that mean the text was misread, so that further findings would be noise. */
const FATAL: ReadonlySet<string> = new Set(['yaml-limit', 'yaml-syntax', 'yaml-documents']);

interface Opening {
  readonly cwd: string;
  readonly mayRead?: MayRead;
}

/** Opens a workflow file. Returns problems, such as `file-missing`, if the file can't be read. */
export async function openFile(file: string, { cwd, mayRead }: Opening): Promise<OpenedFile | readonly Problem[]> {
  const path = resolve(cwd, file);
  const text = mayRead?.(path) === false ? NOT_READ : await readText(path);
  if (text.ok) return openText(text.text, file, path);
  const findings = createFindings();
  const near = text.failure === 'missing' ? await nearFile(path, file) : undefined;
  const hint =
    near ?? (text.failure === 'missing' && !isAbsolute(file) ? `check the path; it leads to ${path}` : undefined);
  const unread = hint === undefined ? text : { ...text, hint };
  reportUnread(unread, `the workflow file ${file}`, { file, line: 1, column: 1 }, findings);
  return findings.list;
}

const ENDINGS = ['.yaml', '.yml', '.ts', '.js', '.json', '.pack.json', '.agent'];

/** Suggests the intended file for a missing one: its name with the ending added, or spelt correctly. */
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

export function openText(text: string, file: string, path: string): OpenedFile {
  let parsed: OpenedYaml | undefined;
  return { file, source: { path, text }, yaml: () => (parsed ??= readYaml(text, file)) };
}

function readYaml(text: string, file: string): OpenedYaml {
  const findings = createFindings();
  const yaml = parseYaml(text, file);
  findings.add(yaml.problems);
  const { root } = yaml;
  const isFatal = yaml.problems.some((problem) => FATAL.has(problem.code));
  if (isFatal && MARKDOWN.test(file)) return { content: undefined, problems: [notMarkdown(text, file)] };
  const isEmpty = root === undefined || isNothing(root);
  if (isEmpty && !isFatal) {
    const hint = 'begin with "name: NAME" and "steps:", or with "agents:" and "workflow:"';
    findings.error('empty-file', 'the workflow file is empty', { file, line: 1, column: 1 }, hint);
  }
  return { content: isEmpty || isFatal ? undefined : { yaml, root }, problems: findings.list };
}

const MARKDOWN = /\.md$/i;

/** What is wrong with Markdown as YAML, such as its second document, would only mislead. */
function notMarkdown(text: string, file: string): Problem {
  const isAgent = /^---\s*\n/.test(text);
  const what = isAgent ? 'an agent file' : 'a Markdown file';
  const hint = isAgent
    ? `name it in a workflow, under agents: NAME: { file: ${file} }`
    : 'workflows are YAML files, TypeScript or JavaScript modules, Agentfiles and packs';
  const at = { file, line: 1, column: 1 };
  return { code: 'not-a-dag', severity: 'error', message: `this is ${what}, not a workflow`, at, hint };
}

/** The files around a workflow: the base folders of paths, a cache of read files, and the files the workflow is made of. */
export interface Workspace {
  /** The working directory, absolute. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** The directory of the workflow file, absolute. */
  readonly base: string;
  shown(path: string): string;
  read(path: string): Promise<ReadResult>;
  list(path: string): Promise<ListResult>;
  use(path: string, text: string): void;
  readonly used: readonly SourceFile[];
}

/** Creates a workspace for loading one workflow. */
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
