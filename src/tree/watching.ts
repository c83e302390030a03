import { openCheckpointFolder } from '../audit/checkpoint-folder.js';
import { CheckpointLog } from '../audit/checkpoint-log.js';
import { findSecrets } from '../audit/secrets.js';
import type { Problem } from '../base/problem.js';
import type { Listener, SkeinEvent } from '../events/event.js';
import type { Plan } from '../plan/plan.js';
import { treeEvents } from './events.js';
import { watchCaps } from './failures.js';
import type { TreeResult } from './state.js';
import type { Runtime } from './runtime.js';

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
  const folder =
    typeof checkpoints === 'string'
      ? await openCheckpointFolder(checkpoints, findSecrets({ env: process.env, plan }))
      : undefined;
  const listeners = [
    caps?.listener,
    telemetry && treeEvents(plan, inputs, telemetry),
    folder?.listener,
    typeof checkpoints === 'function' ? new CheckpointLog(checkpoints).listen : undefined,
    debug === true ? printTexts : undefined,
  ];
  return {
    listeners: listeners.filter((one) => one !== undefined),
    async close() {
      const lost = (await folder?.close()) ?? [];
      const warnings = lost.map((what): Problem => {
        return { code: 'checkpoint-lost', severity: 'warning', message: `a checkpoint could not be written: ${what}` };
      });
      return { failures: caps?.failures() ?? {}, warnings };
    },
  };
}

/** What a terminal would obey. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Prompts and answers with their content, on stderr. */
function printTexts({ type, path, ...event }: SkeinEvent): void {
  if (type !== 'step.note' || !('note' in event)) return;
  const { note } = event;
  const print = (what: string, text: string): void => {
    process.stderr.write(`[${path}] ${what}: ${text.replace(CONTROL, '').replaceAll('\n', '\n    ')}\n`);
  };
  if (note.kind === 'prompt') {
    print('system', note.system);
    print('prompt', note.prompt);
  } else if (note.kind === 'model.ended') print('answer', note.text);
}
