import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlan, memoryStore, readMoments, readRun, run, runWorkflow } from '../src/index.js';
import type { RunOptions, Runnable, Store } from '../src/index.js';
import { loadWorkflowText } from '../src/yaml.js';
import { row } from './growth-plans.js';

/** A job of some size. Gives what does it once; what it needs is made before. */
export interface Job {
  readonly name: string;
  readonly make: (count: number) => (() => Promise<unknown>) | Promise<() => Promise<unknown>>;
  /** Sizes, where a limit of Skein or the machine keeps a job from those of all. */
  readonly few?: number;
  readonly many?: number;
  /** A job that gets dearer for a known reason has no goal. */
  readonly why?: string;
}

/** Runs a plan; anything but a success is a defect of the bench. */
export async function done(plan: Runnable, options: RunOptions = {}): Promise<void> {
  const { outcome, error } = await run(plan, options).result;
  if (outcome !== 'succeeded' && outcome !== 'degraded') throw new Error(`the run ${outcome}: ${error?.message ?? ''}`);
}

function check(found: number, wanted: number): void {
  if (found < wanted) throw new Error(`${found} where there should be ${wanted}`);
}

const usage = { inputTokens: 1, outputTokens: 1 };

/** An agent whose model makes so many calls in each of so many turns, and then answers in so many parts. */
function agent(turns: number, calls: number, parts: number): () => Promise<void> {
  const plan = definePlan({
    name: 'agent',
    nodes: [
      {
        id: 'ask',
        kind: 'agent',
        agent: { name: 'ask', models: ['own/m'], tools: ['think'], maxTurns: 10_000, maxToolCalls: 10_000 },
        prompt: ['Hello?'],
        output: 'text',
      },
    ],
  });
  const model = {
    id: 'own/m',
    async *stream({ caller: { turn } }: { readonly caller: { readonly turn: number } }) {
      if (turn <= turns) {
        for (let at = 0; at < calls; at++)
          yield { type: 'tool-call', call: { id: `${turn}.${at}`, name: 'think', input: '{"thought":"so"}' } } as const;
        yield { type: 'finish', reason: 'tool-calls', usage } as const;
        return;
      }
      for (let at = 0; at < parts; at++) yield { type: 'text', text: 'word ' } as const;
      yield { type: 'finish', reason: 'stop', usage } as const;
      await Promise.resolve();
    },
  };
  return () => done(plan, { models: { env: {}, providers: { own: () => model } } });
}

/** Agents have 10,000 turns and calls at most. */
export const AGENTS: readonly Job[] = [
  { name: 'turns of an agent, a call each', make: (count) => agent(count, 1, 1), few: 500, many: 9_000 },
  { name: 'tool calls of one turn', make: (count) => agent(1, count, 1), many: 10_000 },
  { name: 'parts of a streamed answer', make: (count) => agent(0, 0, count) },
];

/** A recorded row, and what is done with its record. */
const ofRecord =
  (use: (store: Store, count: number) => Promise<void> | void): Job['make'] =>
  async (count) => {
    const store = memoryStore();
    await done(row(count), { store, runId: 'row' });
    return async () => use(store, count);
  };

function called(count: number): () => Promise<void> {
  const inner = definePlan({
    name: 'inner',
    inputs: [{ name: 'x', default: 0 }],
    nodes: [{ id: 'work', output: 'x', run: ({ x }) => Number(x) + 1 }],
  });
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  const plan = definePlan({
    name: 'outer',
    nodes: ids.map((id) => ({
      id,
      kind: 'call',
      plan: inner,
      inputs: { x: { value: 1 } },
      outputs: { [id]: 'x' },
      output: id,
    })),
    edges: ids.slice(1).map((id, at) => [`c${at}`, id] as const),
  });
  return () => done(plan);
}

const AGENT = 'agents: { a: { inline: { description: Answers., prompt: Hello. } } }';

function stepsOf(count: number, line: (at: number) => string): string {
  return ['name: steps', AGENT, 'steps:', ...Array.from({ length: count }, (_, at) => `  - ${line(at)}`)].join('\n');
}

/** Records, definitions with problems, workflows within workflows. A file has some 6,000 steps at most. */
export const RECORDS: readonly Job[] = [
  { name: 'workflows called, one after the other', make: called, many: 20_000 },
  {
    name: 'steps of `show --json`',
    make: ofRecord((store, count) => check(readRun(store, 'row', { outputs: true }).steps.length, count)),
  },
  { name: 'steps of `logs`', make: ofRecord((store, count) => check(readMoments(store, 'row').length, count)) },
  {
    name: 'steps that a fork takes over',
    make: ofRecord((store, count) => done(row(count), { store, fork: { run: 'row' } })),
  },
  {
    name: 'problems of a file',
    make: (count) => async () => {
      const text = stepsOf(count, (at) => `{ id: s${at}, agent: a, wron: 1 }`);
      check((await loadWorkflowText(text, { cwd: tmpdir() })).problems.length, count);
    },
    many: 5_000,
  },
  {
    name: 'steps in the audit folder',
    make: async (count) => {
      const cwd = mkdtempSync(join(tmpdir(), 'skein-growth-'));
      const after = (at: number): string => (at === 0 ? '' : `, depends_on: [s${at - 1}]`);
      const text = stepsOf(count, (at) => `{ id: s${at}, agent: a, prompt: "Say ${at}."${after(at)} }`);
      const workflow = await loadWorkflowText(text, { cwd });
      return async () => {
        const { result } = await runWorkflow(workflow, {
          cwd,
          models: { mock: true },
          audit: { dir: join(cwd, 'audit') },
        });
        const { outcome, auditFailures } = await result;
        if (outcome !== 'succeeded' || auditFailures.length > 0)
          throw new Error(auditFailures[0] ?? `the run ${outcome}`);
        rmSync(cwd, { recursive: true });
      };
    },
    few: 200,
    many: 2_000,
  },
];
