import { relative } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import type { Plan } from '../../plan/plan.js';
import { EXIT } from '../failures.js';
import { executeRun, runOptions } from '../run/execute-run.js';
import { needsYes } from '../run/needs-yes.js';
import type { Execution } from '../run/report-end.js';
import { printNote } from '../view/streams.js';
import { styleFor } from '../view/style.js';
import { sayMore } from './say-more.js';
import { standLine } from './turn-text.js';

interface TurnOfThread {
  readonly plan: Plan;
  readonly thread: string;
  readonly file: string;
}

/** Continues the run of a turn, and says where the conversation is then. Its script need not be used up: it is for all turns. */
export async function executeTurn(execution: Execution, turn: TurnOfThread): Promise<number> {
  const { sharedModels } = await import('../../talking.js');
  const shared = sharedModels(runOptions(execution));
  const code = await executeRun({ ...execution, models: shared.models });
  try {
    await shared.finish();
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_SCRIPT') throw error;
  }
  if (code === EXIT.ok) await tellStand(execution, turn);
  return code;
}

async function tellStand({ flags, cwd, recording }: Execution, { plan, thread, file }: TurnOfThread): Promise<void> {
  const { KeptState, machineOf, standOf } = await import('../../talking.js');
  const store = recording?.store;
  const kept = store === undefined ? undefined : KeptState.read(store, thread);
  const machine = machineOf(plan);
  if (flags.json === true || flags.quiet === true || kept === undefined || machine === undefined) return;
  // A fork is no part of the conversation, nor is a turn that others came after.
  const { record } = kept.head;
  if (!('run' in record) || record.run !== recording?.resume) return;
  const stand = standOf(machine.setup, kept.position, undefined);
  printNote(standLine(stand, styleFor(process.stderr, flags.color)));
  if (stand.complete) return;
  const shown = relative(process.cwd(), file);
  const trust = flags.trust === true && (await needsYes({ file, cwd, flags }));
  const next = sayMore({ ...flags, file: shown, cwd, thread, stand, hasBegun: true, trust });
  for (const line of next) printNote(line);
}
