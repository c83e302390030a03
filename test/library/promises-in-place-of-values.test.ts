import { describe, expect, onTestFinished, test } from 'vitest';
import { definePlan, memoryStore, run, type ErrorData, type RunOptions, type SkeinEvent } from 'skein';
import { agent, agentNode, graph, loopNode, type CheckFunction, type GuideOf } from 'skein/graph';
import { openPack, type TurnEvent } from 'skein/machine';
import { goal, sequence, workflow } from 'skein/tree';
import { packOf } from '../machine/support/talking.js';

/** A function that answers too late, whatever its type is: with a failure that no one waits for. */
const late = (): never => Promise.reject(new Error('too late')) as never;
const MODELS = { models: { env: {} } };
const one = definePlan({ name: 'one', nodes: [{ id: 'a', output: 'a', run: () => 1 }] });
const slow = definePlan({ name: 'slow', nodes: [{ id: 'a', run: () => soon() }] });
const clerk = agent({ name: 'clerk', model: 'mock/echo' });

/** Counts the failures that would have ended a process. */
function unhandled(): unknown[] {
  const found: unknown[] = [];
  const note = (error: unknown): void => void found.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return found;
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

type Way = (options: RunOptions) => Promise<{ readonly outcome: string; readonly error?: ErrorData | undefined }>;

const guided = (guide: Partial<ReturnType<GuideOf>>): Way => {
  const whole = { isOver: () => false, end: () => ({ goto: 'next' }), ...guide };
  const flow = graph<{ task: string; next?: string }>()
    .node('lead', agentNode(clerk, { choice: () => whole }), { goto: ['next'] })
    .node('next', () => 'reached')
    .setEntry('lead');
  return (options) => flow.run({ task: 'x' }, { ...MODELS, ...options });
};

const ways: Readonly<Record<string, readonly [Way, code: string, message: string]>> = {
  'the check of a run': [
    async (options) => await run(one, { ...options, check: late }).result,
    'SKEIN_USAGE',
    'the check of the run returned a promise',
  ],
  'an invariant': [
    (options) =>
      graph({ invariants: [{ predicate: late, message: 'm' }] })
        .node('a', () => 1)
        .run({}, options),
    'SKEIN_INVARIANT',
    "workflow invariant violated (after 'a'): m",
  ],
  when: [
    (options) =>
      graph()
        .node('a', () => 1, { when: late })
        .run({}, options),
    'SKEIN_TEMPLATE',
    "'when:a' must answer true or false at once, not a promise",
  ],
  'retry.on': [
    (options) =>
      graph()
        .node('a', () => Promise.reject(new Error('no')), { retry: { retries: 1, delayMs: 1, on: late } })
        .run({}, options),
    'SKEIN_TEMPLATE',
    "the retry of 'a' could not be decided: 'retry:a' must answer true or false at once, not a promise; the failure was: no",
  ],
  until: [
    (options) => {
      const round = graph().node('t', () => 1);
      return graph()
        .node('a', loopNode(round, { until: late, maxRounds: 2 }))
        .run({}, options);
    },
    'SKEIN_TEMPLATE',
    "'until:a' must answer true or false at once, not a promise",
  ],
  'a reducer': [
    (options) =>
      graph<{ x: number }>({ reducers: { x: late } })
        .addNode('a', () => ({ x: 1 }))
        .setEntry('a')
        .run({}, options),
    'SKEIN_BAD_UPDATE',
    "the values for 'x' can't be folded: the reducer returned a promise",
  ],
  'a schema': [
    (options) =>
      graph({ state: { a: { '~standard': { version: 1, vendor: 'own', validate: late } } } })
        .node('a', () => 1)
        .setEntry('a')
        .run({}, options),
    'SKEIN_BAD_UPDATE',
    "the schema of 'a' is asynchronous, which the state does not support",
  ],
  'a check of an answer': [
    (options) => {
      const check: CheckFunction = late;
      const checked = agent({ name: 'clerk', model: 'mock/echo', checks: [{ name: 'kind', check }] });
      return checked.run('x', { ...MODELS, ...options });
    },
    'SKEIN_USAGE',
    'the check "kind" returned a promise',
  ],
  'before of a guide': [guided({ before: late }), 'SKEIN_USAGE', "before() of the choice of 'lead' returned a promise"],
  'end of a guide': [guided({ end: late }), 'SKEIN_USAGE', "end() of the choice of 'lead' returned a promise"],
};

describe.each([
  ['without a store', () => ({})],
  ['with a store', () => ({ store: memoryStore() })],
] as const)(
  'a promise in place of a value fails the run, and its own failure is no unhandled rejection: %s',
  (_, more) => {
    test.each(Object.entries(ways))('%s', async (_name, [way, code, message]) => {
      const found = unhandled();
      const { outcome, error } = await way(more());
      await soon();
      expect([outcome, error?.code, error?.message]).toEqual(['failed', code, message]);
      expect(found).toEqual([]);
    });

    test.each([
      [
        'throws',
        (): never => {
          throw new Error('a broken listener');
        },
      ],
      ['rejects', late],
    ])('a listener that %s changes nothing, and is not called again', async (_name, broken) => {
      const found = unhandled();
      const heard: SkeinEvent['type'][] = [];
      const listener = (event: SkeinEvent): never => (heard.push(event.type), broken());
      const { outcome } = await run(slow, { ...more(), listeners: [listener] }).result;
      await soon();
      expect([outcome, heard.includes('run.started'), heard.includes('run.ended')]).toEqual(['succeeded', true, false]);
      expect(found).toEqual([]);
    });
  },
);

describe.each([
  [
    'throws',
    (): never => {
      throw new Error('a broken listener');
    },
  ],
  ['rejects', late],
])('a listener that %s', (_, broken) => {
  test('of a conversation with a pack does not end its turns', async () => {
    const found = unhandled();
    const conversation = await openPack(packOf({ intake: { on_event: { Close: 'done' } }, done: { terminal: true } }), {
      models: { env: {}, override: 'mock/echo' },
    });
    const heard: TurnEvent['type'][] = [];
    conversation.on(broken);
    conversation.on((event) => heard.push(event.type));
    const { outcome, text } = await conversation.send('My order is late.');
    await soon();
    expect([outcome, text, heard]).toEqual(['succeeded', 'My order is late.', ['message', 'text', 'message']]);
    expect(found).toEqual([]);
  });

  test('of a tree does not end its run', async () => {
    const found = unhandled();
    const heard: string[] = [];
    const telemetry = ({ name }: { readonly name: string }): never => (heard.push(name), broken());
    const tree = workflow('greeting')
      .input('who')
      .add(sequence('main').steps(goal('greet', 'Greet $who.')));
    const { outcome } = await tree.execute({ model: 'mock/echo', telemetry }, { who: 'Ada' });
    await soon();
    expect([outcome, heard[0]]).toEqual(['succeeded', 'workflow.started']);
    expect(found).toEqual([]);
  });
});
