import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkeinError, definePlan, getThread, listRuns, listThreads, memoryStore, readMoments, readRun } from 'skein';
import { answerRun, deliverEvent, run, updateThread } from 'skein';
import type { Executors, Runnable, RunOptions, Store } from 'skein';
import { agent, agentNode, eventNode, graph, tool } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';
import { oddValue } from './support/odd-values.js';
import { closing, sqliteFile } from './support/threads.js';
import { cases } from '../thorough.js';

/** Functions and options of programs that no compiler has seen. */
type Untyped = (...args: readonly unknown[]) => unknown;
type Step = Readonly<Record<'ask' | 'run' | 'emit', Untyped>>;

/** Runs something in a store, or goes on with it; `after` does more with the run, from outside. */
interface Door {
  start(store: Store, more: Pick<RunOptions, 'resume'>): Promise<unknown>;
  after?(store: Store, runId: string): unknown;
}

const STEP = definePlan({ name: 'p', nodes: [{ id: 'a', output: 'k', run: () => 1 }] });
const QUESTION = definePlan({ name: 'q', nodes: [{ id: 'w', kind: 'ask', question: 'Go?' }] });

function planned(plan: Runnable, first: object = {}, always: object = {}): Door {
  return {
    start: (store, more) => run(plan, { store, ...always, ...(more.resume === undefined ? first : more) }).result,
  };
}

function inStep(body: (step: Step) => unknown): Door {
  return planned(
    definePlan({
      name: 'p',
      nodes: [{ id: 'a', output: 'k', run: (_state, step) => body(step as unknown as Step) }],
    }),
  );
}

function thrown(value: unknown): Door {
  return inStep(() => {
    throw value;
  });
}

function failing(error: object, value: unknown, ...names: readonly string[]): Door {
  for (const name of names) Object.defineProperty(error, name, { value });
  return thrown(error);
}

function inTool(body: (io: Step) => unknown): Door {
  const { models } = ownModels({ m: ({ caller }) => (caller.turn === 1 ? { calls: [['t', { a: 1 }]] } : 'done') });
  const definition = { name: 't', inputSchema: { type: 'object' }, effect: 'read' } as const;
  const execute = (_input: unknown, io: unknown): unknown => body(io as Step);
  const tools = [tool({ ...definition, execute })];
  const flow = graph<{ task: string }>().node('buy', agentNode(agent({ name: 'b', model: 'own/m', tools })));
  return {
    start: (store, more) => flow.setEntry('buy').run(more.resume ? {} : { task: 'x' }, { store, models, ...more }),
  };
}

function executed(body: (step: Readonly<Record<'ask' | 'effect' | 'sleep' | 'note', Untyped>>) => unknown): Door {
  const plan = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'agent', prompt: 'x' }] });
  const act = async (_node: unknown, step: unknown): Promise<unknown> => {
    const output = await body(step as Parameters<typeof body>[0]);
    return { type: 'done', output: output ?? {} };
  };
  return planned(plan, {}, { executors: { agent: act } as unknown as Executors });
}

function threaded(act: (store: Store) => void): Door {
  return {
    ...planned(STEP, { thread: 't' }),
    after: (store) => {
      try {
        act(store);
      } finally {
        getThread(store, 't');
        listThreads(store);
      }
    },
  };
}

/** Where programs, tools and people put what is recorded. */
const DOORS: Readonly<Record<string, (value: unknown) => Door>> = {
  'the result of a step': (value) => inStep(() => value),
  'what is inside of the result of a step': (value) => inStep(async () => ({ deep: [value] })),
  'what a step throws': (value) => thrown(value),
  'what a step throws later': (value) =>
    inStep(async () => {
      throw value;
    }),
  'fields of an error': (value) =>
    failing(new Error('x'), value, 'name', 'code', 'status', 'retryable', 'retryAfterMs'),
  'the message of an error': (value) => failing(new Error('x'), value, 'message'),
  'fields of an error of Skein': (value) =>
    failing(new SkeinError('SKEIN_USAGE', 'x'), value, 'code', 'message', 'hint', 'details', 'retryAfterMs'),
  'details of a question that nobody answers': (value) =>
    thrown(new SkeinError('SKEIN_QUESTION', 'x', { details: { question: { text: value } } as never })),
  'a question': (value) => inStep((step) => step.ask(value)),
  'the text of a question': (value) => inStep((step) => step.ask({ text: value })),
  'the choices of a question': (value) => inStep((step) => step.ask({ text: 'x', choices: value })),
  'the schema of a question': (value) => inStep((step) => step.ask({ text: 'x', schema: value })),
  'the name of a question': (value) => inStep((step) => step.ask({ text: 'x' }, value)),
  'when a question expires': (value) => inStep((step) => step.ask({ text: 'x' }, { expires: value })),
  'the default of a question': (value) => inStep((step) => step.ask({ text: 'x' }, { expires: 1, default: value })),
  'the name of a part': (value) => inStep((step) => step.run(value, () => 1)),
  'the result of a part': (value) => inStep((step) => step.run('part', () => value)),
  'an event': (value) => inStep((step) => (step.emit(value), step.emit({ value }), 1)),
  'the result of a tool': (value) => inTool(() => value),
  'what a tool throws': (value) =>
    inTool(() => {
      throw value;
    }),
  'a question of a tool': (value) => inTool((io) => io.ask(value)),
  'text and choices of a question of a tool': (value) => inTool((io) => io.ask({ text: value, choices: value })),
  'the schema of a question of a tool': (value) => inTool((io) => io.ask({ text: 'x', schema: value })),
  'the name of a question of a tool': (value) => inTool((io) => io.ask({ text: 'x' }, value)),
  'an event of a tool': (value) => inTool((io) => (io.emit(value), 'done')),
  'the result of an effect': (value) => executed((step) => step.effect('e', () => value)),
  'the identity of an effect': (value) =>
    executed((step) => step.effect('e', () => 1, { identity: { digest: () => value, reads: () => value } })),
  'the identity of an effect that runs once': (value) =>
    executed((step) => step.effect('e', () => 1, { effect: 'once', identity: { digest: () => value } })),
  'evidence of an effect': (value) =>
    executed((step) => step.effect('e', () => 1, { effect: 'once', evidence: value, lostValue: value })),
  'a question of an executor': (value) => executed((step) => step.ask('q', { text: value, choices: value })),
  'the name of a question of an executor': (value) => executed((step) => step.ask(value, { text: 'x' })),
  'how long an executor sleeps': (value) => executed((step) => step.sleep('s', typeof value === 'number' ? -1 : value)),
  'a note of an executor': (value) =>
    executed((step) => (step.note({ kind: 'warning', code: value, message: value }), {})),
  'the inputs': (value) => planned(STEP, { inputs: { i: value } }),
  'the origin': (value) => planned(STEP, { origin: value }),
  'what is inside of the origin': (value) => planned(STEP, { origin: { value } }),
  'the id of the run': (value) => planned(STEP, { runId: value }),
  'an answer from here': (value) => planned(QUESTION, {}, { answer: async () => value }),
  'an answer': (value) => ({
    ...planned(QUESTION),
    after: (store, runId) => answerRun(store, runId, { value }),
  }),
  'what comes with an event': (value) => ({
    start: (store, more) =>
      graph()
        .addNode('w', eventNode('go'))
        .setEntry('w')
        .run({}, { store, ...more }),
    after: (store, runId) => deliverEvent(store, runId, 'go', value),
  }),
  'a value that is set by a fork': (value) => ({
    ...planned(STEP),
    after: (store, runId) => run(STEP, { store, fork: { run: runId, set: { k: value } } }).result,
  }),
  'who changes a thread': (who) => threaded((store) => updateThread(store, 't', { k: 2 }, { who, why: 'x' } as never)),
  'why a thread is changed': (why) =>
    threaded((store) => updateThread(store, 't', { k: 2 }, { who: 'x', why } as never)),
  'a value of a thread': (value) => threaded((store) => updateThread(store, 't', { k: value }, { who: 'x', why: 'y' })),
};

/** What went wrong that may not: any value may be refused, but none may leave a record that can't be read, or a run that nobody can take. */
async function troubles(door: Door, store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  const attempt = async (what: string, act: () => unknown): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!SkeinError.isInstance(error)) return;
      if (error.code === 'SKEIN_JOURNAL' || error.code === 'SKEIN_LEASE') found.push(`${what}: ${error.message}`);
    }
  };
  await attempt('run', () => door.start(store, {}));
  for (const { id } of listRuns(store)) {
    await attempt('read', () => readRun(store, id));
    await attempt('outside', () => door.after?.(store, id));
    await attempt('resume', () => door.start(store, { resume: id }));
    await attempt('read again', () => [readRun(store, id), readMoments(store, id)]);
  }
  return found;
}

describe('whatever a program hands over, each of its runs can be read and goes on', () => {
  it.each(Object.entries(DOORS))('%s', async (_name, door) => {
    await fc.assert(
      fc.asyncProperty(oddValue, async ([, value]) => {
        expect(await troubles(door(value()), memoryStore())).toEqual([]);
      }),
      { numRuns: cases(6) },
    );
  });

  it.each([
    ['the origin', 'cron'],
    ['the origin', Symbol('odd')],
    ['what is inside of the origin', 7n],
    ['who changes a thread', 7],
    ['why a thread is changed', undefined],
    ['the name of a question', 'a\0b'],
    ['the name of a question of a tool', '\ud800'],
    ['fields of an error', -1],
    ['what a step throws later', Object.assign(() => 1, { [Symbol.toPrimitive]: 7 })],
    ['a question of an executor', 7],
    ['the identity of an effect', 7],
    ['how long an executor sleeps', undefined],
  ])('%s, in a file: %o', async (name, value) => {
    const door = DOORS[name]?.(value);
    if (door === undefined) throw new Error(name);
    expect(await troubles(door, await closing(sqliteFile()))).toEqual([]);
  });
});
