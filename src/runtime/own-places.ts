import { relative, resolve } from 'node:path';
import { madeOnce } from '../base/collections.js';
import type { OwnPlaces } from '../agent/tools/provider-options.js';
import type { Plan } from '../plan/plan.js';
import { modelsOfBudgets, scriptsAmong } from '../plan/nodes.js';
import { askedOf } from '../plan/security-at.js';
import { filesOf, readFrom } from '../plan/own-plan.js';
import type { RunOptions, Runnable } from './options.js';
import { AUDIT_FOLDER } from '../base/own-names.js';
import { SkeinError } from '../base/errors.js';
import { labelOf, type Label } from '../guard/label.js';
import { strangersRefusal } from '../guard/policy.js';
import type { Policy } from '../plan/policy.js';

export interface Origins {
  /** The files it was read from, and the folders searched for agents. */
  readonly definition?: readonly string[];
  /** Folders of run folders. */
  readonly audit?: readonly string[];
}

/**
 * Returns the places that tools of a run leave alone: the record of this run and of others, and the files of its definition and of
 * what it was started with.
 *
 * @param around the places of the run that started this one
 */
export function ownPlaces(plan: Plan, options: RunOptions, origins: Origins, around?: OwnPlaces): OwnPlaces {
  const cwd = options.cwd ?? process.cwd();
  const { script, record, replay, cwd: start = cwd } = options.models ?? {};
  const file = (path: string | undefined): readonly string[] => (path === undefined ? [] : [resolve(start, path)]);
  const { store, policy = [], prices, limits } = options;
  return {
    record: [
      ...(around?.record ?? []),
      ...(store?.file === undefined ? [] : [store.file]),
      ...(origins.audit ?? []).map((dir) => resolve(cwd, dir)),
      ...file(record),
      ...file(replay),
    ],
    definition: [
      ...(around?.definition ?? []),
      ...(origins.definition ?? []).map((path) => resolve(cwd, path)),
      ...readFrom(plan),
      ...file(typeof script === 'string' ? script : undefined),
      ...scriptsOf(plan).flatMap(file),
      ...policy.flatMap(policyFiles).map((path) => resolve(cwd, path)),
      // An agent that writes them sets its own budget.
      ...filesOf(prices),
      ...filesOf(limits),
    ],
  };
}

/** The file of a policy that was read from one; a program may give a policy any name. */
function policyFiles({ file }: Policy): readonly string[] {
  return /\.(?:ya?ml|toml)$/i.test(file) ? [file] : [];
}

export function definitionPlaces({ files = [], agentFolders = [] }: Runnable): readonly string[] {
  return [...files.map((file) => file.path), ...agentFolders];
}

/** Returns the label of the files a workflow was read from, since agents may have written them. Undefined if only the user influences them. */
export function definitionLabel(
  plan: Plan,
  { writtenFiles, cwd = process.cwd() }: Pick<RunOptions, 'writtenFiles' | 'cwd'>,
  { definition = [] }: Origins = {},
): Label | undefined {
  if (writtenFiles === undefined) return undefined;
  const places = new Set([...definition, ...readFrom(plan), ...scriptsOf(plan)].map((path) => resolve(cwd, path)));
  const found = [...places].filter((path) => writtenFiles.has(path));
  if (found.length === 0) return undefined;
  return labelOf({ level: 'untrusted', isPrivate: true, sources: found.map((path) => `file:${relative(cwd, path)}`) });
}

const scripts = new WeakMap<Plan, readonly string[]>();

/** Scripts that agents, and budgets, name as models. */
function scriptsOf(plan: Plan): readonly string[] {
  return madeOnce(scripts, plan, () => findScripts(plan));
}

function findScripts(plan: Plan): readonly string[] {
  const ofAgents = askedOf(plan).flatMap(({ agent }) => agent.models);
  return [...new Set(scriptsAmong([...ofAgents, ...modelsOfBudgets(plan)]))];
}

/**
 * Checks a folder for run folders that a workflow names, as a write outside the project is checked: against the folders of all policies,
 * and refused in an untrusted project. Skein's own folder needs no permission.
 *
 * @throws SkeinError `SKEIN_POLICY`
 */
export async function checkAuditPlace(dir: string, cwd: string, policies: readonly Policy[]): Promise<void> {
  if (policies.length === 0 || resolve(cwd, dir) === resolve(cwd, AUDIT_FOLDER)) return;
  // Loads code of tools only if needed: most runs have no policy.
  const { folderRefusal } = await import('../agent/tools/paths.js');
  const why =
    folderRefusal(policies, cwd, resolve(cwd, dir)) ??
    strangersRefusal({ effect: 'send', tool: 'audit_dir', input: { path: dir } }, policies);
  if (why === undefined) return;
  throw new SkeinError('SKEIN_POLICY', `run folders are not written to ${dir}: ${why}`, {
    hint: 'run with --no-audit or --audit-dir, or let your policy allow the folder',
    retryable: false,
  });
}
