import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { present } from '../../base/json.js';
import type { Store } from '../../journal/store.js';
import { loadNext, readRecordedRun, type RecordedRun } from './recorded-run.js';
import { isModule, loadWorkflow, toolNames, untrustedWorkflow, type LoadOptions } from './load-workflow.js';
import type { KeptFlags } from './run-flags.js';
import { storeRoot } from './open-store.js';
import { isTrusted } from './trusted-files.js';

/** A file as a command carries it out. */
interface CarriedOut {
  readonly file: string;
  readonly cwd: string;
  readonly flags: Partial<KeptFlags>;
}

/**
 * Whether a command that carries out a file is refused without a terminal, unless it has `--trust`: the file or the module of its tools
 * needs a yes, and the user has not said one that holds for it as it is now. Nobody is asked, and no module is loaded. False for what
 * can't be read: a yes does not help there.
 */
export async function needsYes({ file, cwd, flags }: CarriedOut): Promise<boolean> {
  const { tools } = flags;
  if (tools !== undefined && isModule(tools) && (await isUnknownModule(tools, cwd))) return true;
  if (isModule(file)) return await isUnknownModule(file, cwd);
  const options = optionsOf(cwd, flags);
  try {
    const { workflow, part } = await loadWorkflow(file, options);
    if (part !== undefined) return true;
    return workflow.plan !== undefined && (await untrustedWorkflow(workflow, file, options)) !== undefined;
  } catch {
    return false;
  }
}

/** The same for a resume and a fork of a recorded run. False for a run that no command continues. */
export async function runNeedsYes(store: Store, id: string): Promise<boolean> {
  const root = storeRoot({ cwd: process.cwd(), create: false });
  if (root === undefined) return false;
  try {
    return await recordedNeedsYes(await readRecordedRun(store, root, id));
  } catch {
    return false;
  }
}

async function recordedNeedsYes(run: RecordedRun): Promise<boolean> {
  const { root, origin, record } = run;
  const cwd = resolve(root, origin.cwd);
  const file = resolve(root, origin.file);
  if (existsSync(file)) return await needsYes({ file, cwd, flags: origin.flags });
  const options = { ...optionsOf(cwd, origin.flags), recorded: Object.keys(record.before.inputs) };
  const { problems } = await loadNext(run, file, options);
  return problems.some(({ code }) => code === 'untrusted-file');
}

function optionsOf(cwd: string, { config, tools, mock, lenient, interactive }: Partial<KeptFlags>): LoadOptions {
  const names = tools === undefined || toolNames(tools) === undefined ? {} : { tools };
  return { cwd, unasked: true, ...names, ...present({ config, mock, lenient, interactive }) };
}

async function isUnknownModule(shown: string, cwd: string): Promise<boolean> {
  const { subjectOfModule } = await import('../modules/load-module.js');
  const subject = await subjectOfModule(shown, cwd);
  return !('code' in subject) && !(await isTrusted(subject));
}
