import { basename, join, resolve } from 'node:path';
import { AUDIT_FOLDER } from '../../base/own-names.js';
import type { Power } from '../../plan.js';
import type { SourceFile, Workflow } from '../../plan/workflow.js';
import { visible } from '../view/evidence.js';
import { foreignTo, isWithin, outsideOf, realOf } from './project.js';
import type { TrustSubject } from './trusted-files.js';

/** What is not promised for programs that run with the user's rights. */
export const OUTSIDE_OF_SANDBOX =
  'programs outside of a sandbox can read the keys that skein is started with, and all that you can read';

const AUDIT = 'audit folder';

/** The powers that also apply without models, when a run starts and reaches nothing. */
export function powersWithoutModels(powers: readonly Power[]): readonly Power[] {
  return powers.filter(({ why }) => why === AUDIT);
}

/** What a workflow can do beyond reading the project, which is the working directory and the folder of the file. */
export async function workflowPowers(workflow: Workflow, cwd: string): Promise<readonly Power[]> {
  const { plan, files, settings, agentFolders = [] } = workflow;
  const { powersOf } = await import('../../plan.js');
  const [main] = files;
  const project = { cwd, file: main?.path };
  const isForeign = foreignTo(project);
  const { dir } = settings.audit ?? {};
  return [
    ...(plan === undefined ? [] : powersOf(plan, outsideOf(project))),
    ...files.flatMap(({ path }) => (isForeign(path) ? [reads(path, 'file of the workflow')] : [])),
    ...agentFolders.flatMap((path) => (isForeign(path) ? [reads(path, 'folder of agents')] : [])),
    ...(dir === undefined || isWithin(realOf(dir), join(realOf(cwd), AUDIT_FOLDER))
      ? []
      : [{ kind: 'writes' as const, what: dir, why: AUDIT, variables: [] }]),
  ];
}

export async function subjectOf(workflow: Workflow, file: string, cwd: string): Promise<TrustSubject> {
  const powers = await workflowPowers(workflow, cwd);
  return { file: resolve(cwd, file), cwd, powers, files: workflow.files };
}

/** A file or a folder outside the project. */
export function reads(path: string, why: string): Power {
  return { kind: 'reads', what: path, why, variables: [] };
}

/** A module as the subject of trust, wherever it runs: its code has all rights of the user. */
export function moduleSubject(file: string, files: readonly SourceFile[]): TrustSubject {
  const power: Power = { kind: 'runs', what: basename(file), why: 'its code can do all that you can', variables: [] };
  return { file, powers: [power], files };
}

/** Lists powers for people, one per line. Empty for a workflow without powers. */
export function powerLines(powers: readonly Power[]): readonly string[] {
  return powers.map(({ kind, what, why, variables, sandbox }) => {
    const sent = variables.length === 0 ? '' : `, with the value of ${variables.join(', ')}`;
    const place = sandbox === undefined ? '' : `, in a sandbox${sandbox === 'on' ? '' : ' without network'}`;
    return visible(`${kind} ${what}${place} (${why})${sent}`);
  });
}
