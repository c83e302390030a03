import { SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import type { Identity, Question, StepIo } from '../../engine/ports/durable.js';
import type { StateWatch, StepContext } from '../../engine/ports/executor.js';
import { askPerson } from '../ask-user.js';
import type { ToolCall, ToolResult } from '../model.js';
import type { AgentStep } from '../session.js';
import { callEvidence } from './approval.js';
import { createGate } from './gate.js';
import type { Asking } from './gate.js';
import type { Answer } from './answer.js';
import { answerOf } from './answer.js';
import { callChecks } from './call-check.js';
import type { CallChecks } from './call-check.js';
import { callDigest } from './identities.js';
import type { CallIo, StepTool } from '../tool.js';
import { readInput } from './tool-input.js';

/** Runs tool calls. Never rejects for what a tool does; only for what ends the step. */
export interface ToolRunner {
  /** A call of the loop: an effect of its own, `tool#TURN.INDEX`. */
  call(call: ToolCall, turn: number, index: number): Promise<ToolResult>;
  /** A call from inside a model call, for back ends with a loop of their own: it is part of that model call's effect. */
  dispatch(call: ToolCall, io: StepIo, index: number): Promise<ToolResult>;
}

/** What a model sees of a `once` call of which only a person knows how it ended. */
const LOST: Answer = {
  output: [
    'This call was made, and then the run was interrupted before the result could be recorded.',
    'A person says that it was done. Its result is not known; do not make the same call again.',
  ].join(' '),
  isError: false,
};

/**
 * Makes the runner of a step's tools. Whatever is wrong with a call (an unknown tool, input that is not JSON or does not match the
 * schema, an error that the tool throws) becomes an error result, so that the model can mend it.
 */
export function toolRunner(options: AgentStep): ToolRunner {
  const { step, spec, opened } = options;
  const recorded = new Map(opened.tools.map((tool) => [tool.name, tool]));
  const stepTools = new Map(options.stepTools.map((tool) => [tool.name, tool]));
  const gate = createGate(spec, { recorded, stepTools, cwd: opened.surroundings?.cwd });

  const identityOf = (call: ToolCall) => ({ digest: () => callDigest(call, recorded.get(call.name)?.code) });
  const check = callChecks({ gate, stepTools, use: options.use });
  const looks = looksBetweenTurns({ step, check, stepTools, identityOf });

  async function runTool(call: ToolCall, io: StepIo, { state }: StateWatch, ask = ''): Promise<Answer> {
    const { tools } = await options.use(io);
    return answerOf(async () => {
      const { tool, input } = await check.prepared(call, tools);
      return tool.execute(input, callIo(io, state, ask));
    }, io);
  }
  function effect(call: ToolCall, name: string): Promise<Answer> {
    // Of a tool that was not there when the step began nothing is known: it is treated as the worst kind.
    const kind = recorded.get(call.name)?.effect ?? 'once';
    const watch = step.watch();
    return step.effect(name, (io) => runTool(call, io, watch), {
      effect: kind,
      identity: { ...watch, ...identityOf(call) },
      ...(kind === 'once' ? { lostValue: LOST, evidence: callEvidence(call) } : {}),
    });
  }

  return {
    call: (call, turn, index) =>
      told(step, call, async () => {
        const at = `${turn}.${index}`;
        const ask = (what: string) => (question: Question) =>
          askPerson(step, question, (asked) => step.ask(`ask:${what}#${at}`, asked));
        const refused = await gate.refusal(call, { ...looks(call, at), ask: ask('approve') });
        if (refused !== undefined) return refused;
        const own = stepTools.get(call.name);
        if (own === undefined) return effect(call, `tool#${at}`);
        return answerOf(async () => own.run(readInput(call, own), ask('tool')));
      }),
    dispatch: (call, io, index) =>
      told(step, call, async () => {
        const ask = (what: string) => (question: Question) =>
          askPerson(step, question, (asked) => io.ask(`${what}#${index}`, asked));
        const refused = await gate.refusal(call, {
          fault: () => check.fault(call, io),
          decide: () => check.mustApprove(call, io),
          ask: ask('approve'),
        });
        if (refused !== undefined) return refused;
        const own = stepTools.get(call.name);
        if (own === undefined) return runTool(call, io, step.watch(), `tool#${index}.`);
        return answerOf(async () => {
          if (own.onlyBetweenTurns !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', own.onlyBetweenTurns);
          return own.run(readInput(call, own), ask('tool'));
        }, io);
      }),
  };
}

/** What is asked of a call between turns is recorded: a replay opens no tools, and does as was said. */
function looksBetweenTurns({
  step,
  check,
  stepTools,
  identityOf,
}: Pick<AgentStep, 'step'> & {
  readonly check: CallChecks;
  readonly stepTools: ReadonlyMap<string, StepTool>;
  readonly identityOf: (call: ToolCall) => Identity;
}): (call: ToolCall, at: string) => Pick<Asking, 'fault' | 'decide'> {
  const look = <T>(name: string, call: ToolCall, body: (io: StepIo) => Promise<T>): Promise<T> =>
    step.effect(name, body, { effect: 'read', identity: identityOf(call) });
  return (call, at) => ({
    async fault() {
      if (stepTools.has(call.name)) return check.faultOfOwn(call);
      return (await look(`check#${at}`, call, async (io) => (await check.fault(call, io)) ?? null)) ?? undefined;
    },
    decide: () => look(`approve?#${at}`, call, (io) => check.mustApprove(call, io)),
  });
}

/** What a call is given; its questions have names of its own. */
function callIo(io: StepIo, state: CallIo['state'], prefix: string): CallIo {
  const { signal, idempotencyKey } = io;
  return { signal, idempotencyKey, state, ask: (name, question) => io.ask(prefix + name, question) };
}

async function told(step: StepContext, call: ToolCall, run: () => Promise<Answer>): Promise<ToolResult> {
  step.note({ kind: 'tool.started', id: call.id, tool: call.name, input: shownInput(call.input) });
  const { output, isError } = await run();
  step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status: isError ? 'error' : 'ok', output });
  return { id: call.id, name: call.name, output, isError };
}

function shownInput(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
