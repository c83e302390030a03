import { SkeinError } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import { present, recordText } from '../base/json.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Phase } from '../events/supervision.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { AgentNode } from '../plan/plan.js';
import { hearOnlineModels, hearSearch } from './loop/conversation-trust.js';
import { modelCaller } from './loop/model-caller.js';
import type { ModelSource } from './model.js';
import { agentSession, type AgentSession, type Opened } from './session.js';
import { noTools } from './tool.js';
import { Transcript } from './transcript.js';

export interface AsideModels {
  readonly models: ModelSource;
  /** The earlier model identities of an agent (`ModelSource.identity`), from sessions whose results stay valid whatever the identity is. */
  readonly formerModels?: ((agent: AgentNode) => readonly string[]) | undefined;
}

/** A model that judges a step apart from the step's own work: it has no tools, and sees only the prompt of its call. */
export interface Aside {
  readonly models: ModelSource;
  readonly step: StepContext;
  readonly spec: AgentSpec;
  readonly session: AgentSession;
  readonly opened: Opened;
}

export interface AsideCall {
  readonly phase: Phase;
  /** Name of the effect; defaults to the phase. */
  readonly name?: string;
  readonly system: string;
  readonly prompt: string;
  /** Text that the identity of the answer depends on in addition to the prompts. */
  readonly depends?: string;
  readonly timeoutMs?: number;
}

/** Opens the models of a spec for a step; `name` is the name of the effect. */
export async function openAside(
  { models, formerModels }: AsideModels,
  step: StepContext,
  { spec, name }: { readonly spec: AgentSpec; readonly name: string },
): Promise<Aside> {
  const session = agentSession({ models, tools: noTools, spec, step });
  const digestWith = (flags: string): string => digestText(recordText([spec.models, spec.provider ?? null, flags]));
  const opened = await step.effect(name, (io) => session.open(io), {
    effect: 'read',
    identity: {
      digest: () => digestWith(models.identity?.() ?? ''),
      also: () => formerModels?.({ kind: 'agent', id: step.node.id, agent: spec, prompt: [] }).map(digestWith) ?? [],
    },
  });
  hearOnlineModels(opened, step.influence);
  return { models, step, spec, session, opened };
}

/**
 * Calls the judging model and returns its text. The call is an effect with the retries and fallbacks of agent calls.
 *
 * @throws SkeinError what models throw; `SKEIN_TIMEOUT`
 */
export async function askAside({ models, step, spec, session, opened }: Aside, call: AsideCall): Promise<string> {
  const { phase, name, system, prompt, depends, timeoutMs } = call;
  const transcript = new Transcript();
  transcript.begin(system, undefined, prompt, depends === undefined ? {} : { digested: `${system}\n${depends}` });
  const { ask } = modelCaller(
    {
      step,
      spec,
      phase,
      opened,
      stepTools: [],
      transcript,
      use: (effect) => session.use(effect, opened),
      prices: models.prices,
      replayed: (replayed) => models.replayed?.(spec, replayed),
      ...present({ callName: name, timeoutMs }),
    },
    (wanted) => Promise.reject(new SkeinError('SKEIN_TOOL_REFUSED', `who judges has no tool ${wanted.name}`)),
  );
  const turn = await ask(1);
  hearSearch(turn, step.influence);
  return turn.text;
}
