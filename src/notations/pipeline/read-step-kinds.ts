import { readAskKeys } from '../ask-keys.js';
import { readCallKeys, readRequire, readWaitKeys } from '../step-keys.js';
import { readMapKeys } from '../map-keys.js';
import type { AskStep, CallStep, MapStep, ParallelStep, StepDef, WaitStep } from './definition.js';
import { NO_POLICIES, readOnError, readPolicies, readWhen } from './read-policies.js';
import type { OpenStep } from './step-types.js';

/** Reads a step that repeats steps for each item of a list. */
export function readMap({ fields, base }: OpenStep, steps: readonly StepDef[]): MapStep {
  return { type: 'map', ...base, ...readPolicies(fields), map: readMapKeys(fields), steps };
}

/** Reads steps that start together. */
export function readParallel({ fields, base }: OpenStep, steps: readonly StepDef[]): ParallelStep {
  // Steps that are missing have a problem of their own.
  const require = readRequire(fields, { most: steps.length === 0 ? Infinity : steps.length, word: 'step' });
  return { type: 'parallel', ...base, ...readPolicies(fields), require, steps };
}

/** Reads a question to a person. */
export function readAsk({ fields, base }: OpenStep): AskStep {
  const policies = { ...NO_POLICIES, when: readWhen(fields), onError: readOnError(fields) };
  return { type: 'ask', ...base, ...policies, ask: readAskKeys(fields) };
}

/** Reads a step that waits. */
export function readWait({ fields, base }: OpenStep): WaitStep {
  const policies = { ...NO_POLICIES, when: readWhen(fields), onError: readOnError(fields) };
  return { type: 'wait', ...base, ...policies, wait: readWaitKeys(fields) };
}

/** Reads a call of another workflow file. */
export function readCall({ fields, base }: OpenStep): CallStep {
  return {
    type: 'call',
    ...base,
    ...readPolicies(fields),
    call: readCallKeys(fields),
    prompt: fields.scalar('prompt'),
  };
}
