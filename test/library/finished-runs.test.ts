import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { definePlan, memoryStore, run, runWorkflow, SkeinError } from 'skein';
import type { RunOptions, SkeinEvent, Workflow } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { openSqliteStore } from 'skein/sqlite';
import { ownModels } from '../graph/support-agents.js';

const answers = { a: () => 'from a', b: () => 'from b' };
const own = (): ReturnType<typeof ownModels> => ownModels(answers);
/** Whoever asks for a model finds none. */
const NO_MODELS = { models: { env: {}, noProbe: true } };

const chain = definePlan({
  name: 'chain',
  inputs: [{ name: 'topic', default: 'looms' }],
  nodes: [
    { id: 'facts', kind: 'agent', output: 'facts', prompt: 'Facts about {{topic}}' },
    { id: 'text', kind: 'agent', output: 'text', prompt: 'Text from {{facts}}' },
  ],
  edges: [['facts', 'text']],
});
const workflow: Workflow = { ...chain, settings: { output: { format: 'plain' } }, files: [], problems: [] };
const flow = graph<{ topic: string }>()
  .node('facts', agentNode(agent({ name: 'facts' }), { taskParam: 'topic' }))
  .setEntry('facts');

interface Ended {
  readonly outcome: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly runId: string;
}

/** Everything that runs a workflow in a program. */
const doors: Readonly<Record<string, (options: RunOptions) => Promise<Ended>>> = {
  run: async (options) => await run(chain, options).result,
  runWorkflow: async (options) => (await runWorkflow(workflow, options)).result,
  'graph.run': ({ inputs, ...options }) => flow.run({ topic: 'looms', ...inputs }, options),
};

describe.each(Object.entries(doors))('[XR2] %s', (_, door) => {
  it.each([
    ['a mock', { mock: true }],
    ['models of its own', { ...own().models, override: 'own/a' }],
  ])(
    'answers a finished run that was run with %s from its record, without any models, as often as it is asked',
    async (_name, models) => {
      const store = memoryStore();
      const first = await door({ store, models });
      expect(first.outcome).toBe('succeeded');
      for (const options of [NO_MODELS, {}, NO_MODELS]) {
        const again = await door({ store, resume: first.runId, ...options });
        expect([again.outcome, again.state, again.runId]).toEqual(['succeeded', first.state, first.runId]);
      }
    },
  );

  it('refuses other inputs for a run that is resumed, and says that a fork takes them; the same inputs are none', async () => {
    const store = memoryStore();
    const { models } = own();
    const first = await door({ store, models: { ...models, override: 'own/a' }, inputs: { topic: 'looms' } });
    expect((await door({ store, resume: first.runId, inputs: { topic: 'looms' } })).outcome).toBe('succeeded');
    const refusal = await door({ store, resume: first.runId, inputs: { topic: 'tides' } }).then(
      (result) => (result as { error?: unknown }).error,
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ code: 'SKEIN_INPUT', hint: expect.stringContaining('fork it') as string });
    expect((await door({ store, resume: first.runId })).state).toEqual(first.state);
  });
});

describe('[XR2] a run that has not finished', () => {
  const asking = definePlan({
    name: 'asking',
    nodes: [
      { id: 'facts', kind: 'agent', output: 'facts', prompt: 'Facts' },
      { id: 'ok', kind: 'ask', output: 'ok', question: 'Go on?' },
    ],
    edges: [['facts', 'ok']],
  });

  it('and is paused asks no model for what is finished', async () => {
    const store = memoryStore();
    const { models, asked } = own();
    const { runId, outcome } = await run(asking, { store, models: { ...models, override: 'own/a' } }).result;
    expect(outcome).toBe('paused');
    const again = await run(asking, { store, resume: runId, ...NO_MODELS, answer: () => Promise.resolve('yes') })
      .result;
    expect(again).toMatchObject({ outcome: 'succeeded', state: { facts: 'from a', ok: 'yes' }, reused: 1, ran: 1 });
    expect(asked).toHaveLength(1);
  });

  it('and is degraded tries again what failed, and nothing else', async () => {
    let broken = true;
    const store = memoryStore();
    const { models, asked } = own();
    const plan = definePlan({
      name: 'degraded',
      nodes: [
        { id: 'facts', kind: 'agent', output: 'facts', prompt: 'Facts' },
        {
          id: 'luck',
          output: 'luck',
          onError: 'continue',
          run() {
            if (broken) throw new SkeinError('SKEIN_STEP_FAILED', 'none');
            return 'some';
          },
        },
      ],
    });
    const { runId, outcome } = await run(plan, { store, models: { ...models, override: 'own/a' } }).result;
    expect(outcome).toBe('degraded');
    broken = false;
    const again = await run(plan, { store, resume: runId, ...NO_MODELS }).result;
    expect(again).toMatchObject({ outcome: 'succeeded', state: { facts: 'from a', luck: 'some' }, reused: 1, ran: 1 });
    expect(asked).toHaveLength(1);
  });
});

describe('[XR2] a finished run whose record is only looked through, and not to its end', () => {
  /** `second` is edited, and takes long; whoever asks is told that it has started. */
  const flowOf = (edition: number, begins: () => void = () => undefined) =>
    definePlan({
      name: 'two',
      nodes: [
        { id: 'first', output: 'first', run: () => 1 },
        {
          id: 'second',
          output: 'second',
          version: String(edition),
          run: async (_, step) => {
            if (edition === 1) return 2;
            begins();
            return await new Promise((_resolve, reject) => {
              step.signal.addEventListener('abort', () => reject(new Error('stopped')));
            });
          },
        },
        { id: 'third', output: 'third', run: ({ second }) => second },
      ],
      edges: [['first', 'second', 'third']],
    });

  const stores = {
    'in memory': () => Promise.resolve(memoryStore()),
    'in a file': async () => {
      const folder = await mkdtemp(join(tmpdir(), 'skein-finished-'));
      const store = await openSqliteStore(join(folder, 'skein.db'));
      onTestFinished(async () => {
        store.close();
        await rm(folder, { recursive: true });
      });
      return store;
    },
  };

  it.each(Object.entries(stores))('stays as it was: %s', async (_, open) => {
    const store = await open();
    const { runId } = await run(flowOf(1), { store }).result;
    const before = [store.run(runId), store.read(runId)];
    for (const edition of [1, 2]) {
      const stop = new AbortController();
      const cancel = () => stop.abort(new Error('enough'));
      const listener = ({ type, path }: SkeinEvent): void => {
        if (edition === 1 && type === 'step.ended' && path === 'first') cancel();
      };
      const options = { store, resume: runId, signal: stop.signal, listeners: [listener] };
      const ended = await run(flowOf(edition, cancel), options).result;
      expect(ended).toMatchObject({ outcome: 'cancelled', ran: 0 });
      expect([{ ...store.run(runId), fence: 1 }, store.read(runId)]).toEqual(before);
    }
    const again = await run(flowOf(1), { store, resume: runId }).result;
    expect(again).toMatchObject({ outcome: 'succeeded', reused: 3, ran: 0, state: { third: 2 } });
  });

  it('is cancelled once something was done that is not in it', async () => {
    const store = memoryStore();
    const { runId } = await run(flowOf(1), { store }).result;
    const stop = new AbortController();
    const edited = definePlan({
      name: 'two',
      nodes: [
        { id: 'new', output: 'new', run: () => 'done' },
        { id: 'wait', kind: 'wait', ms: 60_000 },
        { id: 'third', output: 'third', run: () => stop.abort(new Error('unused')) },
      ],
      edges: [['new', 'wait', 'third']],
    });
    const listener = ({ type, path }: SkeinEvent): void => {
      if (type === 'step.started' && path === 'wait') stop.abort(new Error('enough'));
    };
    const ended = await run(edited, { store, resume: runId, signal: stop.signal, listeners: [listener] }).result;
    expect(ended).toMatchObject({ outcome: 'cancelled', ran: 1 });
    expect(store.run(runId)).toMatchObject({ outcome: 'cancelled' });
    const history = await run(edited, { store, resume: runId, signal: AbortSignal.abort() }).result;
    expect(history).toMatchObject({ outcome: 'cancelled', ran: 0 });
  });
});
