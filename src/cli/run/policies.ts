import { existsSync } from 'node:fs';
import { policyPlaces } from '../../base/own-names.js';
import { printable } from '../view/printable.js';
import type { Policy } from '../../yaml.js';

/** The policies that hold in a folder: the user's own, the one that a flag names, the project's. Nothing is loaded where there is none. */
export async function openedPolicies(file: string | undefined, cwd: string): Promise<readonly Policy[]> {
  if (file === undefined && !policyPlaces(cwd).some((path) => existsSync(path))) return [];
  return await (await import('../../yaml.js')).openPolicies({ cwd, file });
}

/** Policies for people: which hold, and what each may do. */
export function policyLines(policies: readonly Policy[]): readonly string[] {
  return policies.map(({ file, widens }) =>
    printable(`policy ${file}${widens === true ? '' : ' (of the project: it only narrows)'}`),
  );
}
