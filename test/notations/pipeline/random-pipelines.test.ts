import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Executor } from '../../../src/engine/ports/executor.js';
import { startRun } from '../../../src/engine/run.js';
import type { AgentNode, Plan } from '../../../src/plan/plan.js';
import { cases, seedOf } from '../../thorough.js';
import { loadPipelineText } from '../../../src/yaml.js';
import type { Answer, Call, Outcome, Step } from './oracle/interpret.js';
import { interpret, walk } from './oracle/interpret.js';
import type { RawPipeline } from './oracle/random-pipeline.js';
import { fileOf, nameSteps, RAW } from './oracle/random-pipeline.js';

const ANSWERS = ['true', 'YES', 'no', '{"ok": true}', '{"ok": "yes"}', '{"ok": 1}', '{}', '', 'some text'];

/** What an agent answers depends on who it is and how often it was asked, and on nothing else. */
function answersOf(seed: number): Answer {
  return (agent, n) => {
    let hash = seed + 7 * n;
    for (const char of agent) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
    return ANSWERS[hash % ANSWERS.length] ?? '';
  };
}

async function runPlan(plan: Plan, answer: Answer): Promise<Outcome> {
  const calls: Call[] = [];
  const times = new Map<string, number>();
  const agent: Executor<AgentNode> = async (node, step) => {
    const { name, instructions } = node.agent;
    const n = (times.get(name) ?? 0) + 1;
    times.set(name, n);
    calls.push({ agent: name, prompt: step.render(node.prompt), system: step.render(instructions) });
    await Promise.resolve();
    return { type: 'done', output: answer(name, n) };
  };
  const warnings: string[] = [];
  const { result } = startRun(plan, {
    executors: { agent },
    listeners: [(event) => event.type === 'run.warning' && warnings.push(event.code)],
  });
  const ended = await result;
  expect(warnings).toEqual([]);
  const outputs = Object.entries(ended.state).flatMap(([name, value]): [string, string][] =>
    name === 'prompt' ? [] : [[name.slice('steps.'.length, -'.output'.length), String(value)]],
  );
  return { error: ended.error?.message, calls, outputs: new Map(outputs) };
}

function byAgent(calls: readonly Call[]): Record<string, readonly Call[]> {
  const agents = [...new Set(calls.map((call) => call.agent))].toSorted();
  return Object.fromEntries(agents.map((agent) => [agent, calls.filter((call) => call.agent === agent)]));
}

function hasParallel(steps: readonly Step[]): boolean {
  return [...walk(steps, '')].some(({ step }) => step.type === 'parallel');
}

const seen = { run: 0, failed: 0, looped: 0, parallel: 0, sequence: 0 };

async function compare(raw: RawPipeline): Promise<void> {
  const file = nameSteps(raw);
  const { plan } = await loadPipelineText(fileOf(file), { cwd: '/' });
  fc.pre(plan !== undefined);
  if (plan === undefined) return;
  const answer = answersOf(raw.seed);
  const expected = interpret(file, answer);
  const ran = await runPlan(plan, answer);
  const parallel = hasParallel(file.steps);
  seen.run += 1;
  if (expected.error !== undefined) seen.failed += 1;
  if (parallel) seen.parallel += 1;
  if ([...walk(file.steps, '')].some(({ step }) => step.type === 'sequence')) seen.sequence += 1;
  if (Object.values(byAgent(expected.calls)).some((calls) => calls.length > 1)) seen.looped += 1;
  // The steps of a parallel block end in any order, and which of several failures is the first is not said.
  if (expected.error !== undefined && parallel) {
    expect(ran.error).toMatch(/^workflow: /);
    return;
  }
  expect(ran.error).toBe(expected.error);
  expect(byAgent(ran.calls)).toEqual(byAgent(expected.calls));
  if (!parallel) expect(ran.calls).toEqual(expected.calls);
  expect(Object.fromEntries(ran.outputs)).toEqual(Object.fromEntries(expected.outputs));
}

describe('random pipelines', () => {
  it('ask the same agents in the same words as an interpreter that takes one step after the other', async () => {
    await fc.assert(fc.asyncProperty(RAW, compare), { numRuns: cases(120), maxSkipsPerRun: 200, seed: seedOf(2026) });
    // What the property is about came up often enough for it to say something.
    expect(seen.failed).toBeGreaterThan(5);
    expect(seen.looped).toBeGreaterThan(8);
    expect(seen.parallel).toBeGreaterThan(25);
    expect(seen.sequence).toBeGreaterThan(25);
    expect(seen.run - seen.failed).toBeGreaterThan(50);
  });
});
