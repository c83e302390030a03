import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pathOf } from '../../src/base/address.js';
import { RunLog, asSeen } from '../../src/cli/view/run-log.js';
import { runReport } from '../../src/cli/run/report-end.js';
import type { Census } from '../../src/events/census.js';
import type { Spending } from '../../src/events/spending.js';
import { addUsd } from '../../src/events/cost.js';
import { addUsage, NO_SPENDING } from '../../src/events/spending.js';
import type { StepAccount } from '../../src/events/step-fold.js';
import { readRun } from '../../src/journal/overview.js';
import { definePlan } from '../../src/plan/builder.js';
import type { Workflow } from '../../src/plan/workflow.js';
import { runWorkflow } from '../../src/runtime.js';
import type { WorkflowResult } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import { cases, seedOf } from '../thorough.js';

/** What an agent meets when it asks its model, one answer a call. */
const ANSWERS = {
  text: '{ text: fine, usage: { input: 7, output: 3 } }',
  tool: '{ tools: [{ name: list_dir, input: { path: . } }], usage: { input: 11, output: 2 } }',
  later: '{ error: { status: 503, message: later, retry_after: 0.001 } }',
  refused: '{ error: { status: 401, message: who are you } }',
  hangs: '{ text: late, delay: 1000s }',
} as const;

interface Agent {
  readonly answers: readonly (keyof typeof ANSWERS)[];
  readonly retries: number;
  readonly allowed: boolean;
  readonly runs: boolean;
}

interface Shape {
  readonly alone: readonly Agent[];
  /** An agent in a block that is tried again. */
  readonly inner: Agent;
  readonly blockRetries: number;
}

const agents = fc.record({
  answers: fc.array(fc.constantFrom('text', 'tool', 'later', 'refused', 'hangs'), {
    maxLength: 4,
  }),
  retries: fc.integer({ min: 0, max: 2 }),
  allowed: fc.boolean(),
  runs: fc.integer({ min: 0, max: 4 }).map((one) => one > 0),
});

const shapes: fc.Arbitrary<Shape> = fc.record({
  alone: fc.array(agents, { minLength: 1, maxLength: 3 }),
  inner: agents,
  blockRetries: fc.integer({ min: 0, max: 1 }),
});

function agentNode(id: string, { retries, allowed, runs, answers }: Agent) {
  return {
    id,
    kind: 'agent' as const,
    prompt: `do ${id}`,
    output: id,
    agent: { name: id, tools: ['list_dir'], models: ['script/answers'] },
    ...(answers.includes('hangs') ? { timeoutMs: 40 } : {}),
    ...(retries === 0 ? {} : { retry: { retries, backoff: 'fixed' as const, delayMs: 1, on: 'any' as const } }),
    ...(allowed ? { onError: 'continue' as const } : {}),
    ...(runs ? {} : { when: () => false }),
  };
}

function workflowOf({ alone, inner, blockRetries }: Shape): Workflow {
  const block = definePlan({ name: 'block', nodes: [agentNode('inner', inner)] });
  const names = alone.map((_, at) => `a${at}`);
  const { plan, bindings } = definePlan({
    name: 'agree',
    nodes: [
      { id: 'plain', output: 'plain', run: () => 1 },
      ...alone.map((agent, at) => agentNode(`a${at}`, agent)),
      {
        id: 'block',
        kind: 'call',
        plan: block,
        ...(blockRetries === 0 ? {} : { retry: { retries: blockRetries, backoff: 'fixed', delayMs: 1, on: 'any' } }),
      },
    ],
    edges: [['plain', ...names, 'block']],
  });
  return { plan, bindings, settings: { output: { format: 'markdown' } }, files: [], problems: [] };
}

function scriptOf(shape: Shape): string {
  const rules = [...shape.alone.map((agent, at) => [`a${at}`, agent] as const), ['inner', shape.inner] as const];
  const lines = rules.map(([step, { answers }]) => {
    const list = [...answers, 'text' as const].map((answer) => ANSWERS[answer]).join(', ');
    return `  - { step: ${step}, repeat: true, answers: [${list}] }`;
  });
  return `strict: false\nrules:\n${lines.join('\n')}\n`;
}

type Account = Omit<StepAccount, 'error'> & { readonly outcome: string; readonly error?: string };

interface Seen {
  readonly steps: ReadonlyMap<string, Account>;
  readonly whole: Spending;
}

/** What all of them say of a step, by the names of events. */
function accountOf(step: Record<string, unknown>, outcome: unknown): Account {
  const { attempts, reason, error } = step;
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  const account = { outcome, attempts, reason, error: message, ...spendingOf(step as unknown as Spending) };
  return JSON.parse(JSON.stringify(account)) as Account;
}

function spendingOf({ modelCalls, failedModelCalls, toolCalls, usage, usd, unpricedCalls }: Spending): Spending {
  return { modelCalls, failedModelCalls, toolCalls, usage, usd, unpricedCalls };
}

function seenInJson(log: RunLog, result: WorkflowResult): Seen {
  const { runId, outcome, census, error, auditFolder, questions } = result;
  const text = runReport({
    workflow: 'agree',
    runId,
    outcome,
    exitCode: 0,
    census,
    error,
    log,
    auditFolder,
    questions,
  });
  const document = JSON.parse(text) as Spending & { readonly steps: Record<string, Record<string, unknown>> };
  const steps = Object.entries(document.steps).map(([path, step]) => [path, accountOf(step, step['status'])] as const);
  return { steps: new Map(steps), whole: spendingOf(document) };
}

interface StepFile {
  readonly path: string;
  readonly kind: string;
  readonly abandoned?: boolean;
  readonly outcome: string;
  readonly attempts: number;
  readonly reason?: string;
  readonly error?: string;
}

interface Counts {
  readonly model_calls?: number;
  readonly failed_model_calls?: number;
  readonly tool_calls?: number;
  readonly cost_usd?: number;
  readonly unpriced_calls?: number;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

function countsOf(file: Counts): Spending {
  const { model_calls = 0, failed_model_calls = 0, tool_calls = 0, cost_usd = 0, unpriced_calls = 0, usage } = file;
  const { input_tokens = 0, output_tokens = 0 } = usage ?? {};
  return {
    modelCalls: model_calls,
    failedModelCalls: failed_model_calls,
    toolCalls: tool_calls,
    usage: { inputTokens: input_tokens, outputTokens: output_tokens },
    usd: cost_usd,
    unpricedCalls: unpriced_calls,
  };
}

/** The files of a step that ran several times: the last counts, with what all of them have cost. */
async function seenInFolder(folder: string): Promise<Seen> {
  const spent = new Map<string, Spending>();
  const steps = new Map<string, Account>();
  for (const name of (await readdir(join(folder, 'steps'))).toSorted(byTwin)) {
    const file = JSON.parse(await readFile(join(folder, 'steps', name, 'step.meta.json'), 'utf8')) as StepFile & Counts;
    const path = pathOf(file.path);
    const before = spent.get(path) ?? NO_SPENDING;
    const own = countsOf(file);
    const sum = {
      modelCalls: before.modelCalls + own.modelCalls,
      failedModelCalls: before.failedModelCalls + own.failedModelCalls,
      toolCalls: before.toolCalls + own.toolCalls,
      usage: addUsage(before.usage, own.usage),
      usd: addUsd(before.usd, own.usd),
      unpricedCalls: before.unpricedCalls + own.unpricedCalls,
    };
    spent.set(path, sum);
    if (file.abandoned !== true) steps.set(path, accountOf({ ...file, ...sum }, file.outcome));
  }
  const meta = JSON.parse(await readFile(join(folder, 'workflow.meta.json'), 'utf8')) as Counts;
  return { steps, whole: countsOf(meta) };
}

/** `03_block-2.inner` was made after `03_block.inner`. */
function byTwin(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => Number(/-(\d+)/.exec(name)?.[1] ?? 1));
  return (a ?? 0) - (b ?? 0) || (one < other ? -1 : 1);
}

function seenInRecord(store: ReturnType<typeof memoryStore>, runId: string): Seen {
  const overview = readRun(store, runId);
  const steps = overview.steps.map((step) => [step.path, accountOf({ ...step }, step.outcome)] as const);
  return { steps: new Map(steps), whole: spendingOf(overview) };
}

/** The census by the steps that somebody sees; failures that are allowed count apart. */
function countedOf(steps: Seen['steps'], allowed: ReadonlySet<string>): Partial<Census> {
  const counts: Record<string, number> = {};
  for (const [path, { outcome }] of steps) {
    const word = allowed.has(path) && ['failed', 'timed_out'].includes(outcome) ? 'degraded' : outcome;
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

describe('whoever looks at a run sees the same steps', () => {
  it('the JSON of the run, show, the audit folder and the census agree, whatever happens in it', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'skein-agree-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    let met = '';
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const workflow = workflowOf(shape);
        const { plan } = workflow;
        if (plan === undefined) throw new Error('no plan');
        const script = join(dir, 'answers.yaml');
        await writeFile(script, scriptOf(shape));
        const store = memoryStore();
        const log = new RunLog(plan);
        const handle = await runWorkflow(workflow, {
          store,
          cwd: dir,
          models: { script, env: {}, noProbe: true },
          audit: { dir: join(dir, 'runs'), keep: 0 },
          listeners: [(event) => log.listen(asSeen(event))],
        });
        const result = await handle.result;
        const live = seenInJson(log, result);
        const files = await seenInFolder(result.auditFolder ?? '');
        const shown = seenInRecord(store, result.runId);
        expect(files).toEqual(live);
        expect(shown.whole).toEqual(live.whole);
        // A step that only contains others has no record of its own unless it did not succeed at once.
        const atOnce = ({ outcome, attempts }: Account): boolean => outcome === 'succeeded' && attempts === 1;
        const recorded = [...live.steps].filter(([path, step]) => path !== 'block' || !atOnce(step));
        expect(new Map(shown.steps)).toEqual(new Map(recorded));
        const allowed = new Set(shape.alone.flatMap((agent, at) => (agent.allowed ? [`a${at}`] : [])));
        if (shape.inner.allowed) allowed.add('block/inner');
        const { notRun: _, ...census } = result.census;
        expect(census).toMatchObject(countedOf(live.steps, allowed));
        for (const step of result.steps) {
          expect(live.steps.get(pathOf(step.path))).toMatchObject({ outcome: step.outcome });
        }
        met += `${JSON.stringify(result.census)} ${JSON.stringify([...live.steps.values()])}`;
      }),
      { numRuns: cases(40), seed: seedOf(12) },
    );
    // The runs were not all of one kind.
    for (const outcome of ['succeeded', 'failed', 'timed_out', 'skipped'])
      expect(met).toContain(`"outcome":"${outcome}"`);
    expect(met).toMatch(/"degraded":[1-9]/);
    expect(met).toMatch(/"attempts":3/);
  });
});
