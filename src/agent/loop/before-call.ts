import { SkeinError, toErrorData } from '../../base/errors.js';
import { isPlainObject, present, type Json } from '../../base/json.js';
import { amountOfCall, amountOfFailure } from '../../budget/amount.js';
import type { Held, StepIo } from '../../engine/ports/durable.js';
import type { Asking } from '../../events/event.js';
import type { ModelTurn, Waiting } from '../model.js';
import type { AgentStep, OpenedModel, OpenParts } from '../session.js';
import type { PricedCall } from './call-cost.js';
import { systemClock } from '../../base/clock.js';
import { formatDuration } from '../../base/duration.js';

/** How a model call waits for its turn at its provider: the clocks of its step stop, and listeners receive notes. */
export function waitingCall(
  step: AgentStep['step'],
  { asking, again }: { readonly asking: Asking; readonly again: boolean },
  io: Pick<StepIo, 'standStill'>,
): Waiting {
  return {
    run: step.runId,
    again,
    waits: () => io.standStill?.() ?? (() => undefined),
    queued: (ahead) => step.note({ kind: 'model.queued', ...asking, ahead }),
    admitted: (waitedMs) => step.note({ kind: 'model.admitted', ...asking, waitedMs }),
  };
}

export interface HeldCall {
  /** Makes the call, and settles the reservation with the reported usage. */
  made(call: Promise<ModelTurn>): Promise<ModelTurn>;
  /** Runs work that the model waits for. */
  during: Held['during'];
}

const FREE: HeldCall = { made: (call) => call, during: (inside) => inside() };

/**
 * Reserves what a call may spend. `isOther`: a budget has named this model.
 *
 * @throws SkeinError `SKEIN_BUDGET_MODEL` if a budget names another model, which is then open; otherwise as `StepIo.reserve`
 */
export async function reserveCall(
  reserve: StepIo['reserve'],
  { priced, isOther, parts }: { readonly priced: PricedCall; readonly isOther: boolean; readonly parts: OpenParts },
): Promise<HeldCall> {
  if (reserve === undefined) return FREE;
  const { reserved } = priced;
  const { model, cost } = reserved;
  const wanted = {
    amount: amountOfCall(reserved),
    told: true,
    ...present({ unpriced: cost === undefined || undefined, pretended: cost?.pretended }),
  } as const;
  const held = await reserve({ ...wanted, ...(isOther ? {} : present({ model })) }).catch(async (error: unknown) => {
    throw SkeinError.isInstance(error) && error.code === 'SKEIN_BUDGET_MODEL' ? await withModel(error, parts) : error;
  });
  return {
    during: (inside) => held.during(inside),
    made: async (call) => {
      try {
        const turn = await call;
        held.settle(amountOfCall(turn));
        return turn;
      } catch (error) {
        held.settle(amountOfFailure(toErrorData(error)));
        throw error;
      }
    },
  };
}

/** Adds to the error all that a replay needs to know about the replacement model. */
async function withModel(error: SkeinError, parts: OpenParts): Promise<SkeinError> {
  const { details } = error;
  if (!isPlainObject(details) || typeof details['model'] !== 'string') return error;
  const { id, structuredOutput } = await parts.other(details['model']);
  const opened = { id, structuredOutput: structuredOutput === true } as unknown as Json;
  return new SkeinError(error.code, error.message, { retryable: false, details: { ...details, opened } as Json });
}

/** Returns the model that a budget named; undefined for other errors. */
export function cheaperIn({ code, details }: SkeinError): OpenedModel | undefined {
  const opened = code === 'SKEIN_BUDGET_MODEL' && isPlainObject(details) ? details['opened'] : undefined;
  if (!isPlainObject(opened) || typeof opened['id'] !== 'string') return undefined;
  return { id: opened['id'], structuredOutput: opened['structuredOutput'] === true };
}

/**
 * Makes a call whose time a policy limits: when the time is over, its signal is aborted and the call ends, even if the tool continues.
 *
 * @throws SkeinError `SKEIN_TIMEOUT`
 */
export async function withinTime<T>(
  ms: number | undefined,
  tool: string,
  signal: () => AbortSignal,
  call: (signal?: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (ms === undefined) return call();
  const late = new AbortController();
  let stop: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    stop = systemClock.setTimer(ms, () => {
      const message = `${tool} took longer than the ${formatDuration(ms)} that a policy gives it`;
      const error = new SkeinError('SKEIN_TIMEOUT', message, { hint: 'ask for less at once' });
      // Rejects first, because a tool may answer the abort signal with an error of its own.
      reject(error);
      late.abort(error);
    });
  });
  try {
    return await Promise.race([call(AbortSignal.any([signal(), late.signal])), over]);
  } finally {
    stop?.();
  }
}
