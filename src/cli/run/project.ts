import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** What belongs to a project: the working directory, and the folder of the workflow file. */
export interface Project {
  readonly cwd: string;
  /** Absolute; undefined: there is none. */
  readonly file: string | undefined;
}

/** Says of a path, relative to the working directory, whether it leads out of the project. */
export function outsideOf({ cwd, file }: Project): (path: string) => boolean {
  const folders = [cwd, ...(file === undefined ? [] : [dirname(file)])].map(realOf);
  return (path) => !folders.some((folder) => isWithin(realOf(resolve(cwd, path)), folder));
}

/** The same, for what a workflow is made of: the user's own agents, which no file has to name, are not foreign. */
export function foreignTo(project: Project): (path: string) => boolean {
  const isOutside = outsideOf(project);
  const own = realOf(join(homedir(), '.copilot', 'agents'));
  return (path) => isOutside(path) && !isWithin(realOf(path), own);
}

/** Where a path leads, links followed as far as it is there. */
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
