import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { memoryStore, run } from 'skein';
import type { Runnable, RunOptions } from 'skein';
import { packWorkflow } from 'skein/machine';
import { loadWorkflow } from 'skein/yaml';
import loop from '../../examples/graph-loop/workflow.js';
import gtd, { runtime } from '../../examples/gtd-next-action/workflow.js';
import { limitsOf } from '../../src/budget/limits.js';
import { exampleFile, ROOT } from './support/run-example.js';

interface Example {
  readonly name: string;
  readonly load: () => Runnable | Promise<Runnable>;
  readonly inputs: NonNullable<RunOptions['inputs']>;
  /** What limits are called, the outer one first. */
  readonly limits: readonly string[];
  readonly options?: RunOptions;
  /** Default: it succeeds. */
  readonly ends?: 'degraded';
}

const load = (name: string, file: string) => () => loadWorkflow(exampleFile(name, file), { cwd: ROOT });

const EXAMPLES: readonly Example[] = [
  { name: 'news-trends', load: load('news-trends', 'workflow.yaml'), inputs: {}, limits: ['run'], ends: 'degraded' },
  {
    name: 'localise',
    load: load('localise', 'workflow.yaml'),
    inputs: {},
    limits: ['run', 'step texts'],
    options: { answer: async () => 'yes' },
  },
  {
    name: 'press-release',
    load: load('press-release', 'Agentfile'),
    inputs: { product: 'the Lyra loom' },
    limits: ['run', 'step polish'],
    options: { answer: async () => 'approve' },
  },
  {
    name: 'draft-and-review',
    load: () => packWorkflow(readFileSync(exampleFile('draft-and-review', 'drafts.pack.json'), 'utf8')),
    inputs: { message: 'Begin.', topic: 'looms' },
    limits: ['workflow turn', 'step turn/state.write'],
  },
  {
    name: 'graph-loop',
    load: () => loop.compile(),
    inputs: { topic: 'looms' },
    limits: ['run', 'step write'],
  },
  {
    name: 'gtd-next-action',
    load: () => gtd.compile(runtime),
    inputs: { hours_available: '4', style: 'concise' },
    limits: ['run', 'step prepare'],
  },
];

describe.each(EXAMPLES)(
  '[15] the example $name',
  ({ name, load: open, inputs, limits, options, ends = 'succeeded' }) => {
    const models = { env: {}, script: exampleFile(name, 'script.yaml') };

    test('has budgets, which are enough for what its script does', async () => {
      const workflow = await open();
      expect(limitsOf(workflow.plan ?? never()).map((limit) => limit.name)).toEqual(limits);
      const { outcome, error } = await run(workflow, { inputs, models, cwd: ROOT, ...options }).result;
      expect([error, outcome]).toEqual([undefined, ends]);
    });

    test('stops after two calls, keeps what they gave, and goes on when there is more', async () => {
      const workflow = await open();
      const store = memoryStore();
      const first = run(workflow, { inputs, models, cwd: ROOT, store, budget: '2-calls', ...options });
      const stopped = await first.result;
      expect([stopped.outcome, stopped.spent.modelCalls]).toEqual(['out_of_budget', 2]);
      const again = { models, cwd: ROOT, store, resume: first.runId, ...options };
      const whole = await run(workflow, { ...again, budget: '+60-calls' }).result;
      expect([whole.error, whole.outcome]).toEqual([undefined, ends]);
      const undisturbed = await run(workflow, { inputs, models, cwd: ROOT, ...options }).result;
      expect(whole.spent.modelCalls + stopped.spent.modelCalls).toBe(undisturbed.spent.modelCalls);
    });
  },
);

function never(): never {
  throw new Error('no plan');
}
