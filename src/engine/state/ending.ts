import type { ErrorData } from '../../base/errors.js';
import type { ItemError, StepEnd } from '../../plan/plan.js';
import type { ChannelHolder, WritingStep } from './state-writer.js';
import { writeChannels } from './state-writer.js';
import type { Version } from './version.js';

/** A step that may tell by a channel how it ended. */
interface Ended extends WritingStep {
  /** Of a map: items that failed. */
  readonly itemErrors: readonly ItemError[];
}

/** How a step ended that has no result, or that it succeeded. */
export interface Ending {
  readonly outcome: StepEnd['status'];
  readonly error?: ErrorData | undefined;
}

/** A version with how a step ended, where its node has a channel for that. */
export function writeEnding(holder: ChannelHolder, step: Ended, version: Version, { outcome, error }: Ending): Version {
  const { node } = step.compiled;
  if (node.ending === undefined) return version;
  const value: StepEnd = {
    status: outcome,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(node.kind === 'map' ? { errors: [...step.itemErrors] } : {}),
  };
  return writeChannels(holder, step, version, [{ channel: node.ending, value }]);
}
