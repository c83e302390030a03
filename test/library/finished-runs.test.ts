import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run, runWorkflow, SkeinError } from 'skein';
import type { RunOptions, Workflow } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
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
