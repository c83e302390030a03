import { afterEach, describe, expect, it, vi } from 'vitest';
import { agentExecutor } from '../../src/agent/executor.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { answerRun } from '../../src/journal/answering.js';
import type { Store } from '../../src/journal/store.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';
import type { RunOptions } from '../../src/runtime.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import { modelOf } from '../agent/support/counted-agent.js';
import type { Said } from '../agent/support/counted-agent.js';
import { fixedTools, tool } from '../agent/support/run-agent.js';
import { agentNode } from '../agent/support/step.js';

afterEach(() => vi.useRealTimers());

/** Reads, then sends once in each turn. */
function says(...sends: readonly object[]): readonly Said[] {
  const turns = sends.map((input): Said => ({ calls: [['send', JSON.stringify(input)]] }));
  return [{ calls: [['read', '{"path":"inbox"}']] }, ...turns, { text: 'Done.' }];
}

const MAIL = { to: 'ann@acme.example', body: 'Hello' };
const OTHER = { to: 'ann@acme.example', body: 'Bye' };
const EVIL = { to: 'eve@evil.example', body: 'Hello' };

const AGENT: PlanNode = { ...agentNode({ models: ['own/m'] }), writes: ['steps.review.output'] };

function planOf(nodes: readonly PlanNode[], edges: Plan['edges'] = []): Plan {
  const channels = [{ name: 'steps.review.output' }, { name: 'list' }, { name: 'item' }, { name: 'out' }];
  return { format: 1, name: 'mails', inputs: [], channels, nodes, edges, routes: [] };
}

/** A place of the run: what was sent there, and a session of it. */
function desk(said: readonly Said[], plan = planOf([AGENT])) {
  const sent: unknown[] = [];
  const tools = (page: string) => [
    tool('read', () => page, { effect: 'read', code: 'read' }),
    tool('send', (input) => (sent.push(input['body']), 'sent'), {
      effect: 'once',
      code: 'send',
      inputSchema: { type: 'object' },
    }),
  ];
  const session = async (options: Partial<RunOptions> = {}, page = 'Send something.') => {
    const providers = { own: () => modelOf('own/m', said, []) };
    const models = createModelRegistry({ env: {}, providers });
    const agent = agentExecutor({ models, tools: fixedTools(tools(page)) });
    const given = { models: { env: {}, providers }, runId: 'one', executors: { agent }, ...options };
    return await run({ plan }, given).result;
  };
  return { sent, session };
}

function answerAll(store: Store, runId: string, value: unknown): void {
  let left: number;
  do left = answerRun(store, runId, { ...first(store, runId), value }).left.length;
  while (left > 0);
}

function first(store: Store, runId: string): { readonly key: string; readonly id: string } {
  for (const batch of [...store.read(runId)].toReversed())
    for (const line of batch.text.split('\n').toReversed()) {
      const record = line === '' ? {} : (JSON.parse(line) as { t?: string; key?: string; id?: string });
      const { t, key, id } = record;
      const isOpen = t === 'pause' && key !== undefined && id !== undefined;
      if (isOpen && !store.answers(runId).some((one) => one.key === key && one.id === id)) return { key, id };
    }
  throw new Error('nothing is asked');
}

describe('an approval', () => {
  it('counts once: the same call is asked about again in its next turn', async () => {
    const { sent, session } = desk(says(MAIL, MAIL));
    const store = memoryStore();
    const one = await session({ store });
    expect([one.outcome, one.questions.map(({ key }) => key)]).toEqual(['paused', ['review@ask:guard#2.1']]);
    answerRun(store, 'one', { value: 'allow' });
    const two = await session({ store, resume: 'one' });
    expect([two.outcome, two.questions.map(({ key }) => key), sent]).toEqual([
      'paused',
      ['review@ask:guard#3.1'],
      ['Hello'],
    ]);
  });

  it('is known by all that it shows: another text that was read makes another question of it', async () => {
    const idOf = async (said: readonly Said[], page: string) => {
      const { questions } = await desk(said).session({ store: memoryStore() }, page);
      return questions[0]?.id;
    };
    const same = await idOf(says(MAIL), 'Send something.');
    expect(await idOf(says(MAIL), 'Send something.')).toBe(same);
    expect(await idOf(says(OTHER), 'Send something.')).not.toBe(same);
    expect(await idOf(says(MAIL), 'Mail ann@acme.example')).not.toBe(same);
  });

  it('is refused when something else is asked by now, with what to do', async () => {
    const { session } = desk(says(MAIL));
    const store = memoryStore();
    await session({ store });
    expect(() => answerRun(store, 'one', { id: 'another', value: 'allow' })).toThrow(
      expect.objectContaining({
        code: 'SKEIN_ANSWER',
        message: "what 'review@ask:guard#2.1' asks has changed since it was shown",
        hint: "skein answer one 'review@ask:guard#2.1' shows what it asks now",
      }) as Error,
    );
  });

  it('comes too late after a week: it is refused, and the call is not made', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { sent, session } = desk(says(MAIL));
    const store = memoryStore();
    const { questions } = await session({ store });
    vi.setSystemTime((questions[0]?.expires ?? 0) + 1);
    expect(() => answerRun(store, 'one', { value: 'allow' })).toThrow(/was due at/);
    const { outcome } = await session({ store, resume: 'one' });
    expect([outcome, sent]).toEqual(['succeeded', []]);
  });

  it('of a run is none of its forks, which do not repeat what was done', async () => {
    const { sent, session } = desk(says(MAIL, OTHER));
    const store = memoryStore();
    await session({ store });
    answerAll(store, 'one', 'allow');
    await session({ store, resume: 'one' });
    answerAll(store, 'one', { answer: 'allow', free: ['body'] });
    // The answer is there, and no session of the run has used it: the fork takes the first mail, and asks for the second.
    const fork = await session({ store, runId: 'two', fork: { run: 'one' } });
    expect([fork.outcome, fork.questions.map(({ key }) => key), sent]).toEqual([
      'paused',
      ['review@ask:guard#3.1'],
      ['Hello'],
    ]);
    expect((await session({ store, resume: 'one' })).outcome).toBe('succeeded');
    const later = await session({ store, runId: 'three', fork: { run: 'one' } });
    expect([later.outcome, sent]).toEqual(['succeeded', ['Hello', 'Bye']]);
  });
});

describe('a yes that leaves arguments free', () => {
  const free = { answer: 'allow', free: ['body'] };

  it('allows the tool again in this run where nothing else differs, and asks where it does', async () => {
    const { sent, session } = desk(says(MAIL, OTHER, EVIL));
    const store = memoryStore();
    await session({ store });
    answerRun(store, 'one', { text: 'allow free body' });
    const two = await session({ store, resume: 'one' });
    expect([two.questions.map(({ key }) => key), sent]).toEqual([['review@ask:guard#4.1'], ['Hello', 'Bye']]);
    // A session later it decides the same.
    const three = await session({ store, resume: 'one' });
    expect([three.questions.map(({ key }) => key), sent]).toEqual([['review@ask:guard#4.1'], ['Hello', 'Bye']]);
  });

  it('counts without a store, too, and ends with the run', async () => {
    const { sent, session } = desk(says(MAIL, OTHER, EVIL));
    const asked: string[] = [];
    const answer = (_question: unknown, address: string) => {
      asked.push(address);
      return Promise.resolve(asked.length === 1 ? free : 'deny');
    };
    const { outcome } = await session({ answer });
    expect([outcome, asked, sent]).toEqual([
      'succeeded',
      ['review@ask:guard#2.1', 'review@ask:guard#4.1'],
      ['Hello', 'Bye'],
    ]);
    await session({ answer });
    expect(asked.slice(2)).toEqual(['review@ask:guard#2.1', 'review@ask:guard#3.1', 'review@ask:guard#4.1']);
  });

  it('is no yes to a call with an argument more, or less', async () => {
    const { session } = desk(says(MAIL, { ...OTHER, cc: 'eve@evil.example' }, { body: 'Bye' }));
    const asked: string[] = [];
    const answer = (_question: unknown, address: string) => {
      asked.push(address);
      return Promise.resolve(asked.length === 1 ? free : 'deny');
    };
    await session({ answer });
    expect(asked).toHaveLength(3);
  });

  it('is refused for arguments that the call does not have', async () => {
    const { session } = desk(says(MAIL));
    const store = memoryStore();
    await session({ store });
    for (const text of ['allow free cc', 'deny free body', 'allow free', 'allow everything'])
      expect(() => answerRun(store, 'one', { text })).toThrow(
        expect.objectContaining({ code: 'SKEIN_ANSWER' }) as Error,
      );
  });
});

describe('the guard asks', () => {
  const inner = planOf([AGENT]);
  const mapped: PlanNode = {
    kind: 'map',
    id: 'each',
    plan: { ...inner, inputs: [{ name: 'item', channel: 'item', required: true }] },
    over: { channel: 'list' },
    item: 'item',
    result: 'steps.review.output',
    maxItems: 5,
    output: 'out',
    writes: ['out'],
  };
  const called: PlanNode = { kind: 'call', id: 'sub', plan: inner };

  it.each([
    [
      'in a map, all items together',
      { ...planOf([mapped]), inputs: [{ name: 'list', channel: 'list', required: true }] },
      ['each[0]/review', 'each[1]/review'],
    ],
    ['in a called workflow', planOf([called]), ['sub/review']],
    [
      'in steps side by side',
      planOf([AGENT, { ...AGENT, id: 'second', writes: ['out'], output: 'out' }]),
      ['review', 'second'],
    ],
  ])('%s, and goes on after the answers', async (_where, plan, paths) => {
    const { sent, session } = desk(says(MAIL), plan);
    const store = memoryStore();
    const inputs = plan.inputs.length === 0 ? {} : { list: ['a', 'b'] };
    const one = await session({ store, inputs });
    // They are in the order of asking, which follows the order of completions (E9).
    expect(one.questions.map(({ path }) => path).toSorted()).toEqual(paths);
    answerAll(store, 'one', 'allow');
    expect([(await session({ store, resume: 'one' })).outcome, sent]).toEqual(['succeeded', paths.map(() => 'Hello')]);
  });

  it('again in an attempt after one that failed', async () => {
    const retried: PlanNode = { ...AGENT, retry: { retries: 1, backoff: 'fixed', delayMs: 1, on: 'any' } };
    const broken = [...says(MAIL).slice(0, 2), {}];
    const { sent, session } = desk(broken, planOf([retried]));
    const asked: string[] = [];
    await session({ answer: (_question, address) => Promise.resolve((asked.push(address), 'allow')) });
    expect([asked, sent]).toEqual([
      ['review@ask:guard#2.1', 'review~2@ask:guard#2.1'],
      ['Hello', 'Hello'],
    ]);
  });
});
