import { SkeinError, fromErrorData, toErrorData } from '../../../src/base/errors.js';
import type { StepNote } from '../../../src/events/event.js';
import type { Question } from '../../../src/engine/ports/durable.js';
import type { StepContext } from '../../../src/engine/ports/executor.js';
import type { Template } from '../../../src/lang/values.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import type { AgentNode } from '../../../src/plan/plan.js';

/** A step for agent tests: effects run at once, sleeps take no time and are written down. */
export interface FakeStep extends StepContext {
  readonly notes: StepNote[];
  /** Names of effects, in the order in which they were started. */
  readonly effects: string[];
  readonly effectKinds: Map<string, string | undefined>;
  readonly sleeps: number[];
  readonly asked: Question[];
  readonly controller: AbortController;
  /** Notes of one kind. */
  of<K extends StepNote['kind']>(kind: K): Extract<StepNote, { kind: K }>[];
}

export interface FakeStepOptions {
  readonly path?: string;
  readonly runId?: string;
  readonly state?: Readonly<Record<string, string>>;
  readonly answer?: (question: Question) => string;
  readonly seed?: number;
}

export function fakeStep(node: AgentNode, options: FakeStepOptions = {}): FakeStep {
  const notes: StepNote[] = [];
  const effects: string[] = [];
  const effectKinds = new Map<string, string | undefined>();
  const sleeps: number[] = [];
  const asked: Question[] = [];
  const controller = new AbortController();
  let draw = options.seed ?? 1;
  const runId = options.runId ?? 'run-1';
  const path = options.path ?? node.id;
  return {
    runId,
    path,
    node,
    attempt: 1,
    bindings: {},
    notes,
    effects,
    effectKinds,
    sleeps,
    asked,
    controller,
    of: (kind) => notes.filter((note) => note.kind === kind) as never,
    read: (ref) => options.state?.[ref.channel],
    render: (template: Template) =>
      template.map((part) => (typeof part === 'string' ? part : (options.state?.[part.channel] ?? ''))).join(''),
    async effect(name, effect, how) {
      if (effectKinds.has(name)) throw new Error(`the effect name ${name} is used twice`);
      effects.push(name);
      effectKinds.set(name, how?.effect);
      try {
        const value = await effect({ idempotencyKey: `${runId}/${path}/${name}`, signal: controller.signal });
        // Only JSON comes back through the port.
        return (value === undefined ? value : JSON.parse(JSON.stringify(value))) as typeof value;
      } catch (error) {
        throw fromErrorData(toErrorData(error));
      }
    },
    sleep(_name, ms) {
      sleeps.push(ms);
      return Promise.resolve();
    },
    ask(_name, question) {
      asked.push(question);
      if (options.answer === undefined) {
        return Promise.reject(new SkeinError('SKEIN_QUESTION', `waits for an answer to: ${question.text}`));
      }
      return Promise.resolve(options.answer(question));
    },
    note: (note) => {
      notes.push(note);
    },
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    random: () => {
      draw = (draw * 16_807) % 2_147_483_647;
      return draw / 2_147_483_647;
    },
  };
}

export function agentNode(spec: Partial<AgentSpec> = {}, prompt: Template = ['Review the change.']): AgentNode {
  return {
    kind: 'agent',
    id: 'review',
    prompt,
    output: 'steps.review.output',
    agent: { name: 'reviewer', instructions: ['You review code.'], models: ['openai/test-model'], ...spec },
  };
}
