import { spawn } from 'node:child_process';
import { countText } from '../../base/text.js';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '../../base/errors.js';
import type { Store } from '../../journal/store.js';
import type { Workflow } from '../../plan/workflow.js';
import { costText } from '../../events/cost-text.js';
import type { WorkflowRun, WorkflowRunOptions } from '../../index.js';
import { outcomeWords } from '../view/step-text.js';
import { printNote } from '../view/streams.js';
import { openRunStore } from './open-store.js';

export interface ActOptions {
  readonly workflow: Workflow;
  readonly inputs: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly script: string;
  /** Number of model calls of the uninterrupted run. */
  readonly calls: number;
}

const RUN_ID = 'demo';
const BUDGET_RUN = 'budget';
const INPUTS = 'inputs.json';

/** Repeats the run in a process that is killed in the middle, continues it here, and reports what was reused. */
export async function durabilityAct(options: ActOptions, undisturbed: Record<string, unknown>): Promise<boolean> {
  printNote('\nThe same once more, in a process of its own, which is killed in the middle (SIGKILL).');
  const folder = await mkdtemp(join(tmpdir(), 'skein-demo-'));
  try {
    await mkdir(join(folder, '.skein'), { mode: 0o700 });
    const store = await openRunStore({ cwd: folder, create: true }, () => undefined);
    if (store === undefined) throw new SkeinError('SKEIN_INTERNAL', 'no store was made');
    try {
      await writeFile(join(folder, INPUTS), JSON.stringify(options.inputs));
      return await disturb({ ...options, folder, store }, undisturbed);
    } finally {
      store.close();
    }
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_PACKAGE_MISSING') throw error;
    printNote(`This needs SQLite: ${error.message} (${error.hint ?? ''}).`);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Act extends ActOptions {
  readonly folder: string;
  readonly store: Store;
}

async function disturb(act: Act, undisturbed: Record<string, unknown>): Promise<boolean> {
  const ending = await runInChild(act.folder, act.cwd);
  const { readRun } = await import('../../index.js');
  const done = readRun(act.store, RUN_ID).steps.filter(({ outcome }) => outcome === 'succeeded').length;
  const { result } = await startAct(act, { resume: RUN_ID });
  const { outcome, state, reused, ran } = await result;
  const same = isDeepStrictEqual(JSON.parse(JSON.stringify(state)), JSON.parse(JSON.stringify(undisturbed)));
  printNote(`${ending} after ${countText(done, 'step')}; resumed here: ${reused} reused, ${ran} run, ${outcome}`);
  printNote(
    same
      ? 'The result is the same as that of the undisturbed run.'
      : 'The result differs from that of the undisturbed run!',
  );
  return same && outcome === 'succeeded' && (await spendsBudget(act));
}

/** Repeats the run with a budget for half of its calls: it pauses, and continues with a larger budget. */
async function spendsBudget(act: Act): Promise<boolean> {
  const calls = Math.max(1, Math.floor(act.calls / 2));
  const paused = await (await startAct(act, { runId: BUDGET_RUN, budget: { calls } })).result;
  const more = await (await startAct(act, { resume: BUDGET_RUN, budget: `+${act.calls}-calls` })).result;
  printNote(`\nOnce more with --budget ${calls}-calls: ${outcomeWords(paused.outcome)}, and nothing is lost;`);
  const saved = costText(more.saved);
  printNote(
    `resumed with --budget +${act.calls}-calls: ${more.reused} reused${saved === '' ? '' : ` (${saved})`}, ${more.ran} run, ${more.outcome}`,
  );
  return paused.outcome === 'out_of_budget' && more.outcome === 'succeeded';
}

/** Starts this program again, for {@link runAndDie}. Resolves to a description of how it ended. */
function runInChild(folder: string, cwd: string): Promise<string> {
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'demo', '--act', folder], { cwd, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal === null ? `ended with ${code}` : 'killed'));
  });
}

/** Runs in the process that is killed. It kills itself once half of the steps have ended, so the moment is always the same. */
export async function runAndDie(folder: string, options: Omit<ActOptions, 'inputs' | 'calls'>): Promise<void> {
  const store = await openRunStore({ cwd: folder, create: true }, () => undefined);
  if (store === undefined) return;
  const inputs = JSON.parse(await readFile(join(folder, INPUTS), 'utf8')) as Record<string, string>;
  const { result } = await startAct({ ...options, folder, store, inputs, calls: 0 }, { runId: RUN_ID }, true);
  await result;
}

async function startAct(
  { workflow, inputs, cwd, script, store }: Act,
  which: Pick<WorkflowRunOptions, 'runId' | 'resume' | 'budget'>,
  dies = false,
): Promise<WorkflowRun> {
  const { runWorkflow } = await import('../../running.js');
  const half = Math.floor((workflow.plan?.nodes.length ?? 0) / 2);
  let ended = 0;
  return await runWorkflow(workflow, {
    ...which,
    store,
    inputs,
    cwd,
    models: { script },
    audit: false,
    listeners: [
      (event) => {
        if (event.type !== 'step.ended' || event.outcome !== 'succeeded') return;
        ended += 1;
        if (dies && ended === half) process.kill(process.pid, 'SIGKILL');
      },
    ],
  });
}
