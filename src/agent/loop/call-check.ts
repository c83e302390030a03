import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import type { StepIo } from '../../engine/ports/durable.js';
import type { ToolCall } from '../model.js';
import type { AgentStep, OpenParts } from '../session.js';
import type { FoundFile, StepTool, Tool } from '../tool.js';
import { answerOf, type Answer } from './answer.js';
import { inputOf } from './approval.js';
import type { WantedCall } from '../permissions/permissions.js';
import type { PolicyCheck } from '../permissions/policy-check.js';
import type { Gate } from './gate.js';
import { readInput } from './tool-input.js';
import { systemClock } from '../../base/clock.js';

export interface CallChecks {
  /** @throws SkeinError the error that a model sees if the call cannot be made */
  prepared(call: ToolCall, tools: OpenParts['tools']): Promise<{ readonly tool: Tool; readonly input: JsonObject }>;
  fault(call: ToolCall, io: StepIo): Promise<Answer | undefined>;
  /** The same for a tool of the step itself, which needs nothing to be open. */
  faultOfOwn(call: ToolCall): Promise<Answer | undefined>;
  /** Returns the file that a writing call would find, or what is wrong with the call. */
  look(call: ToolCall, io: StepIo): Promise<FoundFile | Answer>;
  /** Whether the tool requires a person to allow a call that passes the checks. */
  mustApprove(call: ToolCall, io: StepIo): Promise<boolean>;
  /**
   * Returns whether a call may be led on to an address: as if it asked for that address itself, without a question. Who allowed a call has
   * allowed what its host gives, unless a rule denies it. `guard`: absent if only the user influenced the call.
   */
  follows(call: ToolCall, tool: WantedCall['tool'], guard: Leading | undefined): (url: URL) => boolean;
}

export interface Leading {
  follows(call: ToolCall): (url: URL) => boolean;
}

/** Creates the checks of a step. A person is asked only about calls that pass them. */
export function callChecks({
  gate,
  stepTools,
  use,
  policy,
}: {
  readonly gate: Gate;
  readonly stepTools: ReadonlyMap<string, StepTool>;
  readonly use: AgentStep['use'];
  readonly policy: PolicyCheck;
}): CallChecks {
  const inOrder = longChecks();
  const checks: CallChecks = {
    async prepared(call, tools) {
      const tool = tools.get(call.name);
      if (tool === undefined) throw unknownTool(call.name, [...stepTools.keys(), ...tools.keys()]);
      const refusal = policy.refusal({ name: call.name, input: inputOf(call), tool });
      if (refusal !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', refusal, { hint: TO_THE_MODEL });
      if (!gate.isForeseen(call, tool)) throw notForeseen(call.name);
      return { tool, input: await inOrder(() => readInput(call, tool)) };
    },
    async fault(call, io) {
      if (stepTools.has(call.name)) return checks.faultOfOwn(call);
      const { tools } = await use(io);
      return faultIn(() => checks.prepared(call, tools), io);
    },
    async mustApprove(call, io) {
      const { tools } = await use(io);
      const { tool, input } = await checks.prepared(call, tools);
      return (await tool.mustApprove?.(input)) !== false;
    },
    async look(call, io) {
      const { tools } = await use(io);
      const found: { file?: FoundFile } = {};
      const fault = await faultIn(async () => {
        const { tool, input } = await checks.prepared(call, tools);
        // A tool without `look` may change anything.
        found.file = (await tool.look?.(input)) ?? { path: '', isNew: false };
      }, io);
      return found.file ?? fault ?? { path: '', isNew: false };
    },
    follows: (call, tool, guard) => (url) => {
      const input = inputOf(call) ?? {};
      const next: ToolCall = { ...call, input: JSON.stringify({ ...input, url: url.href }) };
      const { name } = call;
      if (policy.refusal({ name, input: inputOf(next), tool }) !== undefined || gate.forbids(next) !== undefined)
        return false;
      const isSameHost = hostOf(input['url']) === url.host;
      if (!gate.isFree(next)) return isSameHost && !gate.isFree(call);
      return isSameHost || guard === undefined || guard.follows(call)(url);
    },
    faultOfOwn(call) {
      const own = stepTools.get(call.name);
      return faultIn(async () => own !== undefined && readInput(call, own));
    },
  };
  return checks;
}

function hostOf(address: unknown): string | undefined {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).host : undefined;
}

const TO_THE_MODEL = 'do not try to reach the same in another way';

async function faultIn(check: () => Promise<unknown>, io?: StepIo): Promise<Answer | undefined> {
  const checked = await answerOf(async () => {
    await check();
    return '';
  }, io);
  return checked.isError ? { ...checked, own: true } : undefined;
}

function notForeseen(name: string): SkeinError {
  const why = 'a person must allow it, and it was not there when the step began';
  return new SkeinError('SKEIN_TOOL_REFUSED', `${name} can't be called: ${why}`);
}

function unknownTool(name: string, names: readonly string[]): SkeinError {
  const nearest = didYouMean(name, names);
  const known = names.length === 0 ? 'there are no tools' : `the tools are ${names.join(', ')}`;
  const hint = nearest === undefined ? known : `${nearest} ${known}`;
  return new SkeinError('SKEIN_TOOL_FAILED', `there is no tool "${name}"`, { hint });
}

/** A check that takes longer than this, in milliseconds, yields to the event loop, so that signals arrive and timers fire. */
const LONG = 20;

/** Runs costly checks of calls one after the other: the calls of a turn start together, and would block the event loop. */
export function longChecks(): <T>(check: () => T) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (check) => {
    const mine = last.then(async () => {
      const began = systemClock.now();
      try {
        return check();
      } finally {
        if (systemClock.now() - began > LONG) await aTurn();
      }
    });
    last = mine.catch(() => undefined);
    return mine;
  };
}

async function aTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.setTimer(0, resolve);
  });
}
