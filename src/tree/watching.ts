import { openCheckpointFolder, type CheckpointFolder } from '../audit/checkpoint-folder.js';
import { findSecrets } from '../secrets/find-secrets.js';
import { createRedactor, type Redactor } from '../secrets/redact.js';
import { nodePathOf } from '../base/address.js';
import type { Problem } from '../base/problem.js';
import type { Listener } from '../events/event.js';
import type { Plan } from '../plan/plan.js';
import { savingIn } from './checkpoints.js';
import { treeEvents } from './events.js';
import type { Runtime } from './runtime.js';
import type { TreeResult } from './state.js';

export interface Watching {
  readonly listeners: readonly Listener[];
  /** Ends the watch after the run. Returns the caps reached, and warnings about what could not be written. */
  close(): Promise<Pick<TreeResult, 'failures' | 'warnings'>>;
}

/** Creates the listeners of a run. `inputs` returns the values the run began with. */
export async function watchRun(
  plan: Plan,
  runtime: Runtime,
  inputs: () => Readonly<Record<string, unknown>>,
): Promise<Watching> {
  const { telemetry, checkpoints, debug } = runtime;
  const caps = watchCaps(plan);
  const keeping = await keepCheckpoints(checkpoints, plan);
  const listeners = [
    caps?.listener,
    telemetry && treeEvents(plan, inputs, telemetry),
    keeping?.listener,
    debug === true
      ? printingTexts(createRedactor(findSecrets({ env: process.env, plan, inputs: inputs() })))
      : undefined,
  ];
  return {
    listeners: listeners.filter((one) => one !== undefined),
    async close() {
      const lost = (await keeping?.close()) ?? [];
      const warnings = lost.map((what): Problem => {
        return { code: 'checkpoint-lost', severity: 'warning', message: `a checkpoint could not be written: ${what}` };
      });
      return { failures: caps?.failures() ?? {}, warnings };
    },
  };
}

/** Opens the store of a run's checkpoints. Undefined if checkpoints are not kept. */
async function keepCheckpoints(checkpoints: Runtime['checkpoints'], plan: Plan): Promise<CheckpointFolder | undefined> {
  if (checkpoints === undefined) return undefined;
  if (typeof checkpoints === 'string')
    return await openCheckpointFolder(checkpoints, findSecrets({ env: process.env, plan }));
  return savingIn(typeof checkpoints === 'function' ? { save: checkpoints } : checkpoints);
}

/** Control characters that a terminal would obey. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Prints prompts and answers in full, on stderr, without secrets. */
function printingTexts(redactor: Redactor): Listener {
  return ({ type, path, ...event }) => {
    if (type !== 'step.note' || !('note' in event)) return;
    const { note } = event;
    const print = (what: string, text: string): void => {
      const shown = redactor.text(text).replace(CONTROL, '').replaceAll('\n', '\n    ');
      process.stderr.write(`[${path}] ${what}: ${shown}\n`);
    };
    if (note.kind === 'prompt') {
      print('system', note.system);
      print('prompt', note.prompt);
    } else if (note.kind === 'model.ended') print('answer', note.text);
  };
}

/** Watches a run for convergences that reach their cap. */
interface CapWatch {
  readonly listener: Listener;
  /** The caps by the names of the convergences; inside a goal `goal.name`. */
  failures(): Record<string, number>;
}

/** Watches the convergences of a plan. Undefined if it has none. Replayed events count like new ones. */
function watchCaps(plan: Plan): CapWatch | undefined {
  const names = new Map(convergencesIn(plan, '', ''));
  if (names.size === 0) return undefined;
  const caps = new Map<string, number>();
  return {
    listener(event) {
      if (event.type !== 'step.note') return;
      const { note } = event;
      const name =
        note.kind === 'loop.round' || note.kind === 'loop.capped' ? names.get(nodePathOf(event.path)) : undefined;
      if (name === undefined) return;
      if (note.kind === 'loop.capped') caps.set(name, note.rounds);
      // The convergence starts again: after a retry or a correction.
      else if (note.kind === 'loop.round' && note.round === 1) caps.delete(name);
    },
    failures: () => Object.fromEntries(caps),
  };
}

function* convergencesIn({ nodes }: Plan, path: string, around: string): Generator<readonly [string, string]> {
  for (const node of nodes) {
    if (node.kind !== 'loop' && node.kind !== 'call') continue;
    const name = `${around}${node.plan.name}`;
    if (node.kind === 'loop') yield [`${path}${node.id}`, name];
    yield* convergencesIn(node.plan, `${path}${node.id}/`, `${name}.`);
  }
}
