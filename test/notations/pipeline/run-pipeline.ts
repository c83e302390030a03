import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { agentExecutor } from '../../../src/agent/executor.js';
import type { Model, ModelPart, ModelRequest } from '../../../src/agent/model.js';
import { createModelRegistry } from '../../../src/agent/models/registry.js';
import { createToolProvider } from '../../../src/agent/tools/provider.js';
import type { Clock } from '../../../src/base/clock.js';
import type { Problem } from '../../../src/base/problem.js';
import type { AnswerQuestion } from '../../../src/engine/durable/memory-questions.js';
import { MemoryDurable } from '../../../src/engine/durable/memory-durable.js';
import type { RunResult } from '../../../src/engine/run.js';
import { startRun } from '../../../src/engine/run.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import type { Workflow } from '../../../src/plan/workflow.js';
import { loadPipeline } from '../../../src/yaml.js';

/** What the model answers to a step, by its path. */
export type Answers = (step: string, request: ModelRequest) => string | Promise<string>;

/** One call of the model. */
export interface Asked {
  readonly step: string;
  readonly agent: string;
  readonly prompt: string;
  readonly system: string;
}

/** A run that has ended. */
export interface Ran extends RunResult {
  readonly asked: readonly Asked[];
  readonly events: readonly SkeinEvent[];
  /** Delays that were waited for, in milliseconds. */
  readonly delays: readonly number[];
  /** Output of a step by its channel without `steps.` and `.output`. */
  output(step: string): unknown;
  /** The last user message that a step was given. */
  prompt(step: string): string;
}

export interface RunPipelineOptions {
  readonly prompt?: string;
  /** Other files of the project. */
  readonly files?: Readonly<Record<string, string>>;
  readonly answer?: AnswerQuestion;
  /** Default: time that takes no time. */
  readonly clock?: Clock;
  /** The problems that loading finds, as `line:column severity code`; none unless said otherwise. */
  readonly problems?: readonly string[];
}

/** Loads a pipeline from its text, in a project of its own. */
export async function loadText(text: string, files: Readonly<Record<string, string>> = {}): Promise<Workflow> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'skein-pipeline-')));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ ...files, 'flow.yaml': text })) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  return await loadPipeline('flow.yaml', { cwd });
}

/** Problems as `line:column severity code`. */
export function brief(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ at, severity, code }) => `${at?.line ?? '-'}:${at?.column ?? '-'} ${severity} ${code}`);
}

/** A section of agents; a name may have further keys. */
export function agents(...names: readonly (string | readonly [name: string, more: string])[]): string {
  const entries = names.map((one) => {
    const [name, more] = typeof one === 'string' ? [one, ''] : [one[0], `, ${one[1]}`];
    return `  ${name}: {instruction: You are ${name}.${more}}\n`;
  });
  return `agents:\n${entries.join('')}`;
}

/** Structured output with one value, as a key of an agent. */
export function schema(...names: readonly string[]): string {
  const properties = names.map((name) => `${name}: {}`).join(', ');
  return `structured_output: {name: out, schema: {type: object, properties: {${properties}}}}`;
}

/** Time that takes no time: short delays are over at once, and what is meant as a limit never comes. */
function hasteClock(delays: number[]): Clock {
  return {
    now: () => 0,
    setTimer: (ms, fire) => {
      if (ms >= 60_000) return () => undefined;
      delays.push(ms);
      const timer = setImmediate(fire);
      return () => clearImmediate(timer);
    },
  };
}

/** Runs a pipeline whose model is a function. */
export async function runPipeline(text: string, answers: Answers, options: RunPipelineOptions = {}): Promise<Ran> {
  const { plan, problems } = await loadText(text, options.files);
  const found = brief(problems).join('\n');
  if (plan === undefined || found !== (options.problems ?? []).join('\n')) {
    throw new Error(`problems:\n${problems.map((one) => `${brief([one]).join('')} ${one.message}`).join('\n')}`);
  }
  const asked: Asked[] = [];
  const own = (name: string): Model => ({
    id: `own/${name}`,
    async *stream(request): AsyncGenerator<ModelPart> {
      const { path, agent } = request.caller;
      asked.push({ step: path, agent, prompt: textOf(request, 'user'), system: textOf(request, 'system') });
      yield { type: 'text', text: await answers(path, request) };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  const models = createModelRegistry({ cwd: '/', env: {}, noProbe: true, override: 'own/m', providers: { own } });
  const events: SkeinEvent[] = [];
  const delays: number[] = [];
  const { result } = startRun(plan, {
    ...(options.prompt === undefined ? {} : { inputs: { prompt: options.prompt } }),
    durable: new MemoryDurable('run', { clock: options.clock ?? hasteClock(delays), answer: options.answer }),
    executors: { agent: agentExecutor({ models, tools: createToolProvider({ cwd: '/', env: {} }) }) },
    listeners: [(event) => events.push(event)],
  });
  const ended = await result;
  return {
    ...ended,
    asked,
    events,
    delays,
    output: (step) => ended.state[`steps.${step}.output`],
    prompt: (step) => {
      const call = asked.findLast((one) => one.step === step);
      if (call === undefined) throw new Error(`${step} was not asked, but ${asked.map((one) => one.step).join()}`);
      return call.prompt;
    },
  };
}

/** What the messages of a role say. */
function textOf({ messages }: ModelRequest, role: 'system' | 'user'): string {
  return messages.flatMap((message) => (message.role === role ? [message.text] : [])).join('\n\n');
}

/** The block of outputs in front of a prompt, from labels and outputs. */
export function block(entries: Readonly<Record<string, string>>): string {
  const parts = Object.entries(entries).map(([label, output]) => `[${label}]:\n${output}\n\n`);
  return `--- Prior Step Outputs ---\n\n${parts.join('')}--- End Prior Step Outputs ---\n\n`;
}
