import type { CheckpointFolder } from '../audit/checkpoint-folder.js';
import { openCheckpointFolder } from '../audit/checkpoint-folder.js';
import { findSecrets } from '../secrets/find-secrets.js';
import type { Redactor } from '../secrets/redact.js';
import { createRedactor } from '../secrets/redact.js';
import { nodePathOf } from '../base/address.js';
import type { Problem } from '../base/problem.js';
import type { Listener } from '../events/event.js';
import type { Plan } from '../plan/plan.js';
import { savingIn } from './checkpoints.js';
import { treeEvents } from './events.js';
import type { Runtime } from './runtime.js';
import type { TreeResult } from './state.js';

/** What follows a run of a tree. */
export interface Watching {
  readonly listeners: readonly Listener[];
  /** The run is over: what was seen of it, and what could not be written. */
  close(): Promise<Pick<TreeResult, 'failures' | 'warnings'>>;
}

/** Opens what follows a run. `inputs` gives what it has begun with. */
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

/** What keeps the checkpoints of a run; undefined: nothing does. */
async function keepCheckpoints(checkpoints: Runtime['checkpoints'], plan: Plan): Promise<CheckpointFolder | undefined> {
  if (checkpoints === undefined) return undefined;
  if (typeof checkpoints === 'string')
    return await openCheckpointFolder(checkpoints, findSecrets({ env: process.env, plan }));
  return savingIn(typeof checkpoints === 'function' ? { save: checkpoints } : checkpoints);
}

/** What a terminal would obey. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Prompts and answers with their content, on stderr, without secrets. */
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

/** Convergences that came to their cap, in a run that is under way. */
interface CapWatch {
  readonly listener: Listener;
  /** The caps by the names of the convergences; inside of a goal `goal.name`. */
  failures(): Record<string, number>;
}

/** Watches over the convergences of a plan; undefined for one without. What a replay repeats counts like what happens for the first time. */
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
      // It begins anew: a retry, or after a correction.
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
