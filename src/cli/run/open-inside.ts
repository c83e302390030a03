import { resolve } from 'node:path';
import type { Workflow } from '../../plan/workflow.js';
import { foreignTo } from './project.js';
import type { TrustSubject } from './trusted-files.js';
import { reads } from './workflow-powers.js';

/** Whether a file or a folder may be read. */
export type MayRead = (path: string) => boolean;

interface Named {
  readonly file: string;
  readonly cwd: string;
  readonly config?: string | undefined;
}

/** A workflow opened without reading files outside the project. */
export interface Inside<T> {
  readonly opened: T;
  /** Present if the workflow names files outside: what the user must agree to before they are read. */
  readonly part: TrustSubject | undefined;
}

/** Opens a workflow without reading outside the project: a file in a checkout may name, or be a link to, any file of the user. */
export async function openInside<T extends Pick<Workflow, 'files'>>(
  { file, cwd, config }: Named,
  open: (mayRead: MayRead) => Promise<T>,
): Promise<Inside<T>> {
  const path = resolve(cwd, file);
  const isForeign = foreignTo({ cwd, file: path });
  const named = config === undefined ? undefined : resolve(cwd, config);
  const left = new Set<string>();
  const opened = await open((one) => {
    if (one === named || !isForeign(one)) return true;
    left.add(one);
    return false;
  });
  if (left.size === 0) return { opened, part: undefined };
  const powers = [...left].map((one) => reads(one, 'file of the workflow'));
  return { opened, part: { file: path, cwd, powers, files: opened.files, isPart: true } };
}
