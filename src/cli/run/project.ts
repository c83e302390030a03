import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { policyPlaces, userFolders } from '../../base/own-names.js';
import { printable } from '../view/printable.js';
import type { Policy } from '../../yaml.js';

/** The folders of a project: the working directory, and the folder of the workflow file. */
export interface Project {
  readonly cwd: string;
  /** Absolute path. Undefined without a file. */
  readonly file: string | undefined;
}

/** Returns whether a path, relative to the working directory, leads out of the project. */
export function outsideOf({ cwd, file }: Project): (path: string) => boolean {
  const folders = [cwd, ...(file === undefined ? [] : [dirname(file)])].map(realOf);
  return (path) => !folders.some((folder) => isWithin(realOf(resolve(cwd, path)), folder));
}

/** The same for the files of a workflow: the user's own agents, which no file needs to name, are not foreign. */
export function foreignTo(project: Project): (path: string) => boolean {
  const isOutside = outsideOf(project);
  const own = realOf(join(homedir(), '.copilot', 'agents'));
  return (path) => isOutside(path) && !isWithin(realOf(path), own);
}

/** The real path, with links followed as far as the path exists. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), relative(above, path));
  }
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** A folder of the user in which Skein notes what this user trusts. Nothing in a checkout can write there. */
export function stateFolder(name: string): string {
  return join(userFolders().state, name);
}

/** The names in such a folder; none if it is not there. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Replaces a file of such a folder as a whole: two runs may write at the same time. */
export function keep(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${process.pid}`;
  writeFileSync(made, `${text}\n`, { mode: 0o600 });
  renameSync(made, path);
}

/** The real path of a file, if it exists. */
export function existing(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

/** Opens the policies for a folder: the user's own, the one a flag names, the project's. Loads nothing if there is none. */
export async function openedPolicies(file: string | undefined, cwd: string): Promise<readonly Policy[]> {
  if (file === undefined && !policyPlaces(cwd).some((path) => existsSync(path))) return [];
  return await (await import('../../yaml.js')).openPolicies({ cwd, file });
}

/** Lists the policies in effect, and whether each may widen. */
export function policyLines(policies: readonly Policy[]): readonly string[] {
  return policies.map(({ file, widens }) =>
    printable(`policy ${file}${widens === true ? '' : ' (of the project: it only narrows)'}`),
  );
}
