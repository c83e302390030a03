import { setTimeout } from 'node:timers/promises';
import type { Json } from '../../base/json.js';
import type { Counted } from '../models/lazy-models.js';
import type { ScriptBook } from './script-book.js';
import { answerText, scriptedError } from './script-model.js';

/** The script's answers for steps that call a tool directly. */
export interface ScriptedSteps {
  /**
   * Returns the step's result; undefined if the script has none, or lets the call be made.
   *
   * @throws SkeinError the error that the script plans
   */
  answer(path: string, signal: AbortSignal): Promise<Json | undefined>;
  /** Reports a call that was answered from the record of the run: its answer counts as given. Opens no file. */
  skipped(path: string): void;
  /** Whether the script lets the call be made. */
  isReal(path: string): Promise<boolean>;
}

/** Returns the answers of a script, which is opened at the first look-up; without a script there are none. */
export function scriptedSteps(script: Counted<ScriptBook> | undefined): ScriptedSteps {
  if (script === undefined) return SILENT;
  return {
    async answer(step, signal) {
      const said = (await script.open()).step({ step });
      if (said === undefined) return undefined;
      if (said.delayMs > 0) await setTimeout(said.delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      if (said.error !== undefined) throw scriptedError(`step ${step}`, said.error);
      return said.json ?? answerText(said);
    },
    skipped: (step) => script.skip({ step }),
    isReal: async (step) => (await script.open()).isReal({ step }),
  };
}

const SILENT: ScriptedSteps = {
  answer: () => Promise.resolve(undefined),
  skipped: () => undefined,
  isReal: () => Promise.resolve(false),
};
