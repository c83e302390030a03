import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentExecutor } from '../../src/agent/executor.js';
import type { ModelRequest } from '../../src/agent/model.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import type { Tool } from '../../src/agent/tool.js';
import { chainSum } from '../../src/journal/codec.js';
import { readRun } from '../../src/journal/overview.js';
import type { Store, StoredBatch } from '../../src/journal/store.js';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import type { Plan } from '../../src/plan/plan.js';
import type { RunOptions } from '../../src/runtime.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { toolServer } from '../mcp/support.js';
import { folder } from '../tools/support/session.js';
import type { Said } from './support/counted-agent.js';
import { modelOf } from './support/counted-agent.js';
import { fixedTools, tool } from './support/run-agent.js';
import { agentNode } from './support/step.js';

function planOf(spec: Partial<AgentSpec>): Plan {
  return {
    format: 1,
    name: 'one-agent',
    inputs: [],
    channels: [{ name: 'steps.review.output' }],
    nodes: [{ ...agentNode({ models: ['own/m'], ...spec }), writes: ['steps.review.output'] }],
    edges: [],
    routes: [],
  };
}

interface Session {
  readonly store: Store;
  readonly said: readonly Said[];
  readonly tools?: readonly Tool[];
  readonly spec?: Partial<AgentSpec>;
  readonly options?: Partial<RunOptions>;
}

/** One process: what it gives, and the turns for which its model was called. */
async function session({ store, said, tools, spec = {}, options = {} }: Session) {
  const asked: ModelRequest[] = [];
  const providers = { own: () => modelOf('own/m', said, asked) };
  const models = createModelRegistry({ env: {}, providers });
  const agents = tools === undefined ? {} : { agent: agentExecutor({ models, tools: fixedTools(tools) }) };
  const handle = run(
    { plan: planOf(spec) },
    { store, models: { env: {}, providers }, runId: 'one', executors: agents, ...options },
  );
  return { result: await handle.result, turns: asked.map((request) => request.caller.turn), asked };
}

const output = (result: { readonly state: Readonly<Record<string, unknown>> }) => result.state['steps.review.output'];

it('a fork of a finished run starts no server and calls no model', async () => {
  const cwd = await folder();
  const pids = join(cwd, 'pids');
  const spec = { mcpServers: { kit: toolServer('tools=echo', `pids=${pids}`) }, tools: ['kit'] };
  const said = [{ calls: [['mcp_kit_echo', '{"text":"hi"}'] as const] }, { text: 'Done.' }];
  const store = memoryStore();
  const before = await session({ store, said, spec, options: { cwd } });
  expect([before.result.outcome, before.turns, existsSync(pids)]).toEqual(['succeeded', [1, 2], true]);
  rmSync(pids);
  const after = await session({ store, said: [], spec, options: { cwd, runId: 'two', fork: { run: 'one' } } });
  expect([after.result.outcome, output(after.result), after.turns]).toEqual(['succeeded', 'Done.', []]);
  expect(existsSync(pids)).toBe(false);
});

it('a fork that runs an agent of another definition records its end, though everything said is the same', async () => {
  const store = memoryStore();
  const said = [{ text: 'Done.' }];
  await session({ store, said });
  const spec = { settings: { temperature: 0.5 } };
  const after = await session({ store, said, spec, options: { runId: 'two', fork: { run: 'one' } } });
  expect(after.turns).toEqual([1]);
  expect(readRun(store, 'two').steps).toMatchObject([{ path: 'review', outcome: 'succeeded' }]);
});

describe('a run whose process died anywhere', () => {
  const said: readonly Said[] = [
    {
      calls: [
        ['look', '{"path":"a"}'],
        ['look', '{"path":"b"}'],
      ],
    },
    { calls: [['look', '{"path":"c"}']] },
    { text: 'Done.' },
  ];

  it('makes no recorded call again, and ends as it would have', async () => {
    const first: string[] = [];
    const look = (calls: string[]) =>
      tool('look', (input) => {
        calls.push(input['path'] as string);
        return `saw ${input['path'] as string}`;
      });
    const whole = memoryStore();
    const undisturbed = await session({ store: whole, said, tools: [look(first)] });
    expect([undisturbed.turns, first]).toEqual([
      [1, 2, 3],
      ['a', 'b', 'c'],
    ]);
    const prefixes = prefixesOf('one', whole.read('one'));
    expect(prefixes.length).toBeGreaterThan(8);
    for (const { name, batches, lines } of prefixes) {
      const calls: string[] = [];
      const store = storeWith('one', batches, whole);
      const { result, turns, asked } = await session({ store, said, tools: [look(calls)], options: { resume: 'one' } });
      expect([name, result.outcome, output(result)]).toEqual([name, 'succeeded', 'Done.']);
      const done = (key: string) => lines.some((line) => line.includes(`"t":"done"`) && line.includes(`"${key}"`));
      expect([name, turns]).toEqual([name, [1, 2, 3].filter((turn) => !done(`review@model#${turn}`))]);
      const left = ['1.1', '1.2', '2.1'].filter((call) => !done(`review@tool#${call}`));
      expect([name, calls.length]).toEqual([name, left.length]);
      // Whatever the model is sent is what it would have been sent.
      for (const request of asked) {
        expect(request.messages).toEqual(undisturbed.asked[request.caller.turn - 1]?.messages);
      }
    }
  });
});

describe('an agent that has nothing to open', () => {
  const said = [{ text: 'One.' }, { text: 'Two.' }];
  const spec = { tools: [] };

  it('[J5] commits once for each turn of its model', async () => {
    const store = memoryStore();
    const { turns } = await session({ store, said, spec });
    expect(turns).toEqual([1]);
    const committed = store.read('one').map(({ text }) => [...text.matchAll(/@\w+|"t":"end"/g)].map(([what]) => what));
    expect(committed).toEqual([[], ['@open', '@model'], ['@close', '"t":"end"']]);
  });

  it('is resumed from every beginning of its journal, also of one in which each line was committed by itself', async () => {
    const whole = memoryStore();
    await session({ store: whole, said, spec });
    const [first, ...lines] = linesOfBatches(whole.read('one'));
    let sum = '';
    const alone = [first, ...lines.map((line) => [line.replace(',"inline":true', '')])].map((text, seq) => {
      const batch = { seq, text: text.join('\n'), sum: chainSum(sum, 'one', seq, text.join('\n')) };
      ({ sum } = batch);
      return batch;
    });
    expect(alone.map(({ text }) => text).join()).not.toContain('inline');
    for (const journal of [whole.read('one'), alone]) {
      for (const { name, batches, lines: kept } of prefixesOf('one', journal)) {
        const store = storeWith('one', batches, whole);
        const { result, turns } = await session({ store, said, spec, options: { resume: 'one' } });
        expect([name, result.outcome, output(result)]).toEqual([name, 'succeeded', 'One.']);
        expect([name, turns.length]).toEqual([name, kept.some((line) => line.includes('@model#1')) ? 0 : 1]);
      }
    }
  });
});

/** The lines of the first batch, then each of the others. */
function linesOfBatches([begin, ...batches]: readonly StoredBatch[]): readonly [string[], ...string[]] {
  return [begin?.text.split('\n') ?? [], ...batches.flatMap(({ text }) => text.split('\n'))];
}

describe('a once tool that was started and has no result', () => {
  const said: readonly Said[] = [{ calls: [['pay', '{"path":"a"}']] }, { text: 'Done.' }];

  /** The run as a process left it that died while it paid. */
  async function interrupted() {
    const whole = memoryStore();
    await session({ store: whole, said, tools: [tool('pay', () => 'paid', { effect: 'once' })] });
    const prefix = prefixesOf('one', whole.read('one')).find(({ lines }) => lines.at(-1)?.includes('"t":"start"'));
    return storeWith('one', prefix?.batches ?? [], whole);
  }

  it.each([
    ['it was done', 0],
    ['run it', 1],
  ])('asks a person; after "%s" it is run %i times', async (answer, runs) => {
    const store = await interrupted();
    let paid = 0;
    const pay = tool('pay', () => `paid ${(paid += 1)}`, { effect: 'once' });
    const resume = { resume: 'one' };
    const paused = await session({ store, said, tools: [pay], options: resume });
    expect([paused.result.outcome, paid, paused.turns]).toEqual(['paused', 0, []]);
    expect(readRun(store, 'one').questions).toMatchObject([{ evidence: { tool: 'pay', input: { path: 'a' } } }]);
    const after = await session({
      store,
      said,
      tools: [pay],
      options: { ...resume, answer: () => Promise.resolve(answer) },
    });
    expect([after.result.outcome, paid, after.turns]).toEqual(['succeeded', runs, [2]]);
    const told = after.asked[0]?.messages.find((message) => message.role === 'tool');
    const text = runs === 1 ? 'paid 1' : 'A person says that it was done. Its result is not known';
    expect(told).toMatchObject({ results: [{ isError: false, output: expect.stringContaining(text) as unknown }] });
  });
});

it('an approval pauses the run, and is answered later', async () => {
  const said: readonly Said[] = [{ calls: [['rm', '{"path":"a"}']] }, { text: 'Done.' }];
  const store = memoryStore();
  let runs = 0;
  const same = { store, said, spec: { approve: ['rm'] }, tools: [tool('rm', () => String((runs += 1)))] };
  const paused = await session(same);
  expect([paused.result.outcome, runs]).toEqual(['paused', 0]);
  const after = await session({ ...same, options: { resume: 'one', answer: () => Promise.resolve('allow') } });
  expect([after.result.outcome, runs, after.turns]).toEqual(['succeeded', 1, [2]]);
});
