import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { present } from '../../base/json.js';
import { AUDIT_FOLDER } from '../../base/own-names.js';
import { definitionError, hasErrors, type Problem } from '../../base/problem.js';
import type { convertTree } from '../../converting.js';
import type { Plan } from '../../plan/plan.js';
import type { SourceFile, Workflow, WorkflowSettings } from '../../plan/workflow.js';
import { readExport, type Exported, type ModuleRunOptions, type Watch } from './exported.js';
import { inFile, positionOf, problem, problemsOfFailure, type ModuleFile } from './import-failure.js';
import { importModule, settled } from './import-module.js';
import { sourceNameOf } from './module-hooks.js';
import { untrusted, type TrustFlags } from '../run/trust-gate.js';
import { outsideOf } from '../run/project.js';
import type { TrustSubject } from '../run/trusted-files.js';
import { moduleSubject } from '../run/workflow-powers.js';

export interface ModuleWorkflow extends Workflow {
  readonly watch?: Watch;
  readonly runOptions?: ModuleRunOptions;
}

/** Extensions that Node loads only after compilation. */
const UNREAD = /(\.cts|\.[jt]sx)$/;

/**
 * Loads the workflow that a module exports. Importing runs its code, unlike in other notations. Errors are in the problems, never thrown.
 */
export async function loadModule(shown: string, cwd: string): Promise<ModuleWorkflow> {
  const file: ModuleFile = { path: resolve(cwd, shown), shown, cwd };
  const [, ending] = UNREAD.exec(shown) ?? [];
  if (ending !== undefined) {
    const message = `a workflow can't be in a file that ends in ${ending}`;
    return broken([problem('module-kind', message, positionOf(undefined, file), 'call it .ts, or .mts')], []);
  }
  const source = await readSource(file);
  if ('code' in source) return broken([source], []);
  try {
    const exported = await settled(exportOf(file));
    if ('message' in exported) {
      const { message, hint } = exported;
      return broken([problem('module-export', message, positionOf(undefined, file), hint)], [source]);
    }
    return await checked(exported, file, source);
  } catch (error) {
    return broken(await problemsOfFailure(error, file, () => moduleFiles(source)), [source]);
  }
}

/** The result for a module that the user has not trusted: loading it would run its code. */
export async function refusedModule(
  shown: string,
  cwd: string,
  flags: TrustFlags,
): Promise<ModuleWorkflow | undefined> {
  const refusal = await untrustedModule(shown, cwd, flags);
  return refusal === undefined ? undefined : broken([refusal], []);
}

/** Returns the problem of a module that is not trusted. Undefined also for an unreadable module, which has problems of its own. */
export async function untrustedModule(shown: string, cwd: string, flags: TrustFlags): Promise<Problem | undefined> {
  if (flags.trust === true) return undefined;
  const subject = await subjectOfModule(shown, cwd);
  return 'code' in subject ? undefined : await untrusted(subject, shown, flags);
}

/** Describes a module for a trust decision without running it, or returns why it can't be read. */
export async function subjectOfModule(shown: string, cwd: string): Promise<TrustSubject | Problem> {
  const path = resolve(cwd, shown);
  const source = await readSource({ path, shown, cwd });
  if ('code' in source) return source;
  // The result does not depend on the folder from which the module is named.
  const isOutside = outsideOf({ cwd: dirname(path), file: path });
  const files = await moduleFiles(source, (file) => !isOutside(file));
  return {
    ...moduleSubject(path, files),
    elsewhere: async () => (await moduleFiles(source)).filter((file) => isOutside(file.path)),
  };
}

async function exportOf(file: ModuleFile): Promise<ReturnType<typeof readExport>> {
  const exports = await importModule(file.path);
  return readExport(await exports['default'], exports);
}

async function readSource(file: ModuleFile): Promise<SourceFile | Problem> {
  try {
    return { path: file.path, text: await readFile(file.path, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const at = positionOf(undefined, file);
    if (code === 'ENOENT')
      return problem(
        'file-missing',
        `the workflow file ${file.shown} does not exist`,
        at,
        `check the path; it leads to ${file.path}`,
      );
    if (code === 'EISDIR')
      return problem(
        'file-directory',
        `the workflow file ${file.shown} is a directory, not a file`,
        at,
        'name a file in it',
      );
    return problem('file-unreadable', `the workflow file ${file.shown} can't be read (${code})`, at);
  }
}

async function checked(exported: Exported, file: ModuleFile, source: SourceFile): Promise<ModuleWorkflow> {
  const { plan, bindings, answerKey, watch, runOptions, files = [], agentFiles, agentFolders } = exported;
  const problems = (await problemsOf(exported)).map((each) => inFile(each, file));
  if (plan === undefined && !hasErrors(problems)) {
    const hint = 'look at its problems before it is exported';
    problems.push(problem('module-export', 'the default export has no plan', positionOf(undefined, file), hint));
  }
  return {
    plan: hasErrors(problems) ? undefined : plan,
    bindings,
    settings: exported.settings ?? settingsOf(plan, answerKey, file.cwd),
    files: [...(await moduleFiles(source)), ...files],
    ...present({ agentFolders, agentFiles, watch, runOptions }),
    problems,
  };
}

/** All problems. The builder of the plan has reported its own; of the later checks, only errors count. */
async function problemsOf({ plan, bindings, problems }: Exported): Promise<readonly Problem[]> {
  if (plan === undefined) return problems ?? [];
  const { checkPlan } = await import('../../plan.js');
  const found = checkPlan(plan, bindings);
  if (problems === undefined) return found;
  const said = new Set(problems.map(({ code, message }) => `${code} ${message}`));
  const unsaid = found.filter(({ code, message, severity }) => severity === 'error' && !said.has(`${code} ${message}`));
  return [...problems, ...unsaid];
}

/** The answer is the result, if present. Runs are recorded in a folder, as for workflow files. */
function settingsOf(plan: Plan | undefined, answerKey: string | undefined, cwd: string): WorkflowSettings {
  const writers = (plan?.nodes ?? []).filter(
    ({ output, writes }) => answerKey !== undefined && (output === answerKey || writes?.includes(answerKey) === true),
  );
  return {
    output: { format: 'markdown', ...(writers.length === 0 ? {} : { nodes: writers.map(({ id }) => id) }) },
    audit: { dir: resolve(cwd, AUDIT_FOLDER), keep: 0 },
  };
}

function broken(problems: readonly Problem[], files: readonly SourceFile[]): ModuleWorkflow {
  return { plan: undefined, bindings: {}, settings: { output: { format: 'markdown' } }, files, problems };
}

/** Maximum number of modules searched, starting from one file. */
const MOST_FILES = 500;

/** A relative name in an import, an export or a call of `import` or `require`. */
const RELATIVE = /\b(?:from|import|require)\s*\(?\s*(["'])(\.{1,2}\/[^"'\n]+)\1/g;

/** Finds a module and the modules it imports by relative names, recursively. Names computed at run time are not found. */
async function moduleFiles(
  entry: SourceFile,
  mayRead: (path: string) => boolean = () => true,
): Promise<readonly SourceFile[]> {
  const files = new Map([[entry.path, entry]]);
  for (const file of files.values()) {
    for (const [, , name = ''] of file.text.matchAll(RELATIVE)) {
      if (files.size >= MOST_FILES) return [...files.values()];
      const from = pathToFileURL(file.path).href;
      const path = fileURLToPath(sourceNameOf(name, from) ?? new URL(name, from));
      if (files.has(path) || !mayRead(path)) continue;
      const text = await readFile(path, 'utf8').catch(() => undefined);
      if (text !== undefined) files.set(path, { path, text });
    }
  }
  return [...files.values()];
}

/** What `converting.ts` needs of a module: a tree, and its runtime options. */
type Exports = Parameters<typeof convertTree>[0];

/**
 * Returns the exports of a module: the default one and `runtime`.
 *
 * @throws SkeinError `SKEIN_DEFINITION` if the module is not trusted or can't be imported, with all problems in `details.problems`
 */
export async function treeExports(shown: string, cwd: string, flags: TrustFlags): Promise<Exports> {
  const path = resolve(cwd, shown);
  const refusal = await untrustedModule(shown, cwd, flags);
  if (refusal !== undefined) throw definitionError([refusal]);
  try {
    const { default: tree, runtime } = await settled(importModule(path));
    return { tree: await tree, runtime };
  } catch (cause) {
    const sources = async () => [{ path, text: await readFile(path, 'utf8').catch(() => '') }];
    throw definitionError(await problemsOfFailure(cause, { path, shown, cwd }, sources));
  }
}
