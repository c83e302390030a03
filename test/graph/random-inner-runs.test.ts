import { expect, it } from 'vitest';
import { answerRun, memoryStore, readBudget } from 'skein';
import type { Store } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool } from 'skein/graph';
import { seededRandom } from '../../src/testing/index.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { cases, seedOf, THOROUGH } from '../thorough.js';
import { ownModels, promptOf, resultsIn } from './support-agents.js';

const INPUT = { type: 'object', properties: { what: { type: 'string' } } } as const;

/** What may be done in one process, and what was. The model is down at one of its calls, once. */
function world(downAt = 0) {
  const done: string[] = [];
  let asked = 0;
  const effect = (kind: 'once' | 'idempotent' | 'read') =>
    tool({
      name: kind,
      inputSchema: INPUT,
      effect: kind,
      trust: 'trusted',
      execute: async ({ what }, io) => {
        await new Promise((next) => setImmediate(next));
        done.push(`${kind} ${io.idempotencyKey}`);
        return `${kind}(${String(what)})`;
      },
    });
  const { models } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      const what = promptOf(request);
      if ((asked += 1) === downAt) throw new Error('down');
      done.push(`model ${what}`);
      const next = request.tools[results.length];
      if (next === undefined || results.length > 1) return `<${[what, ...results].join(' ')}>`;
      return { calls: [[next.name, next.name === 'helper' ? { task: `${what}h` } : { what }]] };
    },
  });
  return { done, models, tools: [effect('once'), effect('idempotent'), effect('read')] };
}

interface Step {
  readonly runOptions: object;
  run(name: string, part: () => string): Promise<string>;
  ask(question: { readonly text: string }): Promise<string>;
}

/** Something that a function does with a word. */
type Work = (word: string, step: Step) => Promise<string>;

async function answerOf(worker: ReturnType<typeof agent>, word: string, step: Step): Promise<string> {
  const { success, answer, error } = await worker.run(word, step.runOptions);
  if (!success) throw new Error(error?.message);
  return answer;
}

/** Draws a program: a function that starts runs of agents and of graphs, whose functions and tools start runs in turn. */
class Drawn {
  private readonly random: () => number;

  constructor(
    seed: number,
    private readonly its: ReturnType<typeof world>,
  ) {
    this.random = seededRandom(`inner runs ${seed}`);
  }

  private pick<T>(...of: readonly [T, ...T[]]): T {
    return of[Math.floor(this.random() * of.length)] ?? of[0];
  }

  private worker(depth: number): ReturnType<typeof agent> {
    const tools = this.its.tools.filter(() => this.random() < 0.5);
    const helpers = depth > 0 && this.random() < 0.4 ? [this.worker(depth - 1)] : [];
    const asTools = helpers.map((one) => agentAsTool(one, { name: 'helper', description: 'Helps.' }));
    return agent({ name: `w${depth}`, model: 'own/m', tools: [...asTools, ...tools] });
  }

  private work(depth: number): Work {
    const { done } = this.its;
    const kind = this.pick('part', 'plain', 'ask', 'runs');
    if (kind === 'part')
      return async (word, step) => await step.run('part', () => `${word}p${done.push(`part ${word}`) > 0}`);
    if (kind === 'ask') return async (word, step) => `${word} ${await step.ask({ text: `What of ${word.length}?` })}`;
    return kind === 'runs' && depth > 0 ? this.runs(depth - 1) : (word) => Promise.resolve(`${word}.`);
  }

  private graph(depth: number): Work {
    const agents = [this.worker(depth), this.worker(depth)] as const;
    const [first, last] = [this.work(depth), this.work(depth)];
    const built = graph<{ word: string }>()
      .node('first', async ({ word }, step) => await first(word, step))
      .node('said', agentNode(agents[0], { taskParam: 'first' }))
      .node('also', agentNode(agents[1], { taskParam: 'word' }))
      .node('last', async ({ said, also }, step) => await last(`${said}${also}`, step));
    return async (word, step) => (await built.runOrThrow({ word }, step.runOptions)).last ?? '';
  }

  private one(depth: number): Work {
    if (this.random() < 0.4) return this.graph(depth);
    const worker = this.worker(depth);
    return async (word, step) => await answerOf(worker, word, step);
  }

  /** Some runs, at once or one after the other. */
  runs(depth: number): Work {
    const words = Array.from({ length: 1 + Math.floor(this.random() * 3) }, (_, at) => this.pick('a', 'b', `c${at}`));
    const starts = words.map((word) => ({ word, work: this.one(depth) }));
    if (this.random() < 0.5)
      return async (_word, step) => (await Promise.all(starts.map(({ word, work }) => work(word, step)))).join();
    return async (_word, step) => {
      const said: string[] = [];
      for (const { word, work } of starts) said.push(await work(word, step));
      return said.join();
    };
  }
}

/** Runs a program, or goes on with it, until it has an end. */
async function processOf(seed: number, store: Store, resume: boolean, downAt?: number) {
  const its = world(downAt);
  const work = new Drawn(seed, its).runs(2);
  const flow = graph().node('t', async (_state, step) => await work('', step), { inputs: [] });
  for (let sessions = 1; ; sessions += 1) {
    const again = resume || sessions > 1 ? { resume: 'one' } : { runId: 'one' };
    // Some under a budget that suffices: it counts the calls of all sessions once.
    const limit = seed % 2 === 0 && !resume && sessions === 1 ? { budget: { calls: 1_000, toolCalls: 1_000 } } : {};
    const { outcome, state, questions } = await flow.run({}, { store, models: its.models, ...limit, ...again });
    const isOver = outcome !== 'paused' && (downAt === undefined || outcome !== 'failed');
    if (isOver || sessions > 60) return { outcome, said: state['t'], done: its.done, sessions };
    for (const { key, question } of questions)
      answerRun(store, 'one', { key, value: question?.includes('once only') === true ? 'run it' : 'so' });
  }
}

const called = (done: readonly string[]): number => done.filter((one) => one.startsWith('model ')).length;

it.each(Array.from({ length: cases(6) }, (_, at) => seedOf(1) + at))(
  'program %i, killed after some record and resumed, repeats no recorded call of the runs that a step starts',
  async (seed) => {
    const store = memoryStore();
    const whole = await processOf(seed, store, false);
    expect(whole.outcome).toBe('succeeded');
    const counted = seed % 2 === 0 ? [called(whole.done)] : [];
    expect(readBudget(store, 'one').flatMap(({ measure, spent }) => (measure === 'calls' ? [spent] : []))).toEqual(
      counted,
    );
    const prefixes = prefixesOf('one', store.read('one'));
    const every = THOROUGH ? 1 : Math.ceil(prefixes.length / 8);
    for (const { name, batches, lines } of prefixes.filter((_, at) => at % every === 0)) {
      const next = await processOf(seed, storeWith('one', batches, store), true);
      expect([name, next.outcome, next.said]).toEqual([name, 'succeeded', whole.said]);
      const recorded = doneKeys(lines);
      const made = new Set(recorded.map((key) => `one/${key}`));
      const effects = next.done.filter((one) => /^(once|idempotent) /.test(one));
      expect([name, effects.filter((one) => made.has(one.slice(one.indexOf(' ') + 1)))]).toEqual([name, []]);
      expect([name, effects.length]).toEqual([name, new Set(effects).size]);
      expect([name, effects.filter((one) => !whole.done.includes(one))]).toEqual([name, []]);
      const models = recorded.filter((key) => /model#\d+$/.test(key)).length;
      expect([name, called(next.done)]).toEqual([name, called(whole.done) - models]);
    }
  },
);

it.each(Array.from({ length: cases(6) }, (_, at) => seedOf(101) + at))(
  'program %i, whose model is down at some call, repeats no call that was answered once it is resumed',
  async (seed) => {
    const whole = await processOf(seed, memoryStore(), false);
    const calls = called(whole.done);
    for (let at = 1; at <= calls; at += THOROUGH ? 1 : Math.ceil(calls / 4)) {
      const store = memoryStore();
      const { outcome } = await processOf(seed, store, false, at);
      expect([at, outcome]).toEqual([at, 'succeeded']);
      const answers = linesOf(store, 'one')
        .map((line) => JSON.parse(line) as { t: string; key: string; id?: string; error?: object })
        .flatMap(({ t, key, id = '', error }) => (t === 'done' && error === undefined ? [`${key} ${id}`] : []));
      expect([at, answers.filter((one, first) => answers.indexOf(one) !== first)]).toEqual([at, []]);
    }
  },
);
