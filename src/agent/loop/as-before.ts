import { digestText } from '../../base/hash.js';
import type { Identity } from '../../engine/ports/durable.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { Decision } from '../../guard/decide.js';
import type { Label } from '../../guard/label.js';
import type { ToolCall } from '../model.js';
import type { RunTrust } from '../run-trust.js';
import type { Opened } from '../session.js';
import { runsCommands } from '../session.js';
import type { Answer } from './answer.js';

/** What the record says of the calls of a turn; places count from 1. */
export interface Before {
  /** Whether a person was asked about the call at a place, or about others from there on. */
  readonly wasAsked: (index: number) => boolean;
  /** Whether the call was made, so that it is not made again. */
  readonly isMade: (call: ToolCall, index: number) => boolean;
}

/** Reads what the record says of a turn's calls. */
export function recordOf(
  step: Pick<StepContext, 'isRecorded'>,
  turn: number,
  identityOf: (call: ToolCall) => Identity,
): Before {
  return {
    wasAsked: (index) => step.isRecorded(`ask:guard#${turn}.${index}`),
    isMade: (call, index) => step.isRecorded(`tool#${turn}.${index}`, identityOf(call)),
  };
}

/**
 * What a person was asked about stays a question, although what led to it may no longer be known: it went with the process, before a record
 * of it. Otherwise, a resumed run would make a call that a person refused.
 */
export function asBefore<T extends { readonly call: ToolCall; readonly found: Decision | Answer | undefined }>(
  decided: readonly T[],
  before: Before | undefined,
  label: Label,
): readonly T[] {
  if (before === undefined) return decided;
  const first = decided.findIndex((one, at) => isFree(one.found) && before.wasAsked(at + 1));
  if (first < 0) return decided;
  const why = 'a person was asked about it before the run was interrupted';
  const found: Decision = { kind: 'ask', rule: 'asked-before', why, sources: label.sources };
  return decided.map((one, at) =>
    at >= first && isFree(one.found) && !before.isMade(one.call, at + 1) ? { ...one, found } : one,
  );
}

function isFree(found: Decision | Answer | undefined): boolean {
  return found !== undefined && 'kind' in found && found.kind === 'allow';
}

interface Parts {
  readonly run: RunTrust;
  readonly opened: Opened;
}

/** Looks for planted programs before a call inside a model call. That starts again as a whole, so there is nothing to record. */
export function noticePlanted(parts: Parts, call: ToolCall): void {
  if (hasCommands(parts, [call]) && parts.run.files?.planted() === true) parts.run.foundPlanted();
}

function hasCommands({ opened }: Parts, calls: readonly ToolCall[]): boolean {
  return calls.some(({ name }) => opened.tools.some((tool) => tool.name === name && runsCommands(tool)));
}

/**
 * Before commands are decided about, looks for programs that were planted after the step opened: by another run, or by a run inside whose
 * caller the process did not outlive. What is found is recorded, because it decides. A turn of which a call was made is decided already.
 *
 * @returns undefined if nothing was found
 */
export function findsPlanted(
  { step, ...parts }: Parts & { readonly step: StepContext },
  { calls, turn, before }: { readonly calls: readonly ToolCall[]; readonly turn: number; readonly before: Before },
): Promise<void> | undefined {
  const { run } = parts;
  if (run.planted || !hasCommands(parts, calls)) return undefined;
  const name = `planted#${turn}`;
  if (!step.isRecorded(name)) {
    if (calls.some((call, at) => before.isMade(call, at + 1)) || run.files?.planted() !== true) return undefined;
  }
  const identity = { digest: () => digestText('') };
  return step.effect(name, () => Promise.resolve(true), { effect: 'read', identity }).then(() => run.foundPlanted());
}
