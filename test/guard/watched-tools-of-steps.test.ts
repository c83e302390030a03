import { describe, expect, it, onTestFinished } from 'vitest';
import type { CustomGuard, RunOptions, Runnable, SkeinEvent } from 'skein';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerRun, definePlan, memoryStore, run } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';
import { packComposition } from '../../src/notations/machine/compositions/pack-composition.js';
import { ownModels } from '../graph/support-agents.js';
import { NO_CALL, tell } from './support/figures.js';

const MAIL = {
  type: 'object',
  properties: { to: { type: 'string' }, body: { type: 'string', maxLength: 9 } },
  required: ['to', 'body'],
  additionalProperties: false,
} as const;

/** A tool that sends, and what it was called with. */
function mailer() {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    inputSchema: MAIL,
    effect: 'idempotent',
    execute: ({ to, body }) => {
      sent.push(`${String(to)}: ${String(body)}`);
      return 'sent';
    },
  });
  return { send, sent };
}

type Mailer = ReturnType<typeof mailer>;

/** The notations in which a step calls a function of the program by itself, each with the id of its step. */
const NOTATIONS: readonly (readonly [string, string, (made: Mailer) => Runnable])[] = [
  [
    'a graph',
    'mail',
    ({ send }) => graph<{ to: string; body: string }>().node('mail', toolNode(send)).setEntry('mail').compile(),
  ],
  [
    'a composition of a pack',
    's',
    ({ send }) => {
      const args = { to: '${input.to}', body: '${input.body}' };
      const composition = {
        version: 1 as const,
        steps: [{ id: 's', kind: 'tool' as const, tool: 'send', args }],
        output: 's',
      };
      return packComposition({ id: 'p', prompts: {}, compositions: { c: composition } }, 'c', { tools: { send } });
    },
  ],
];

const GIVEN = { to: 'ada@x.org', body: 'Hi' };
const inputsOf = (name: string): RunOptions => (name === 'a graph' ? { inputs: GIVEN } : { inputs: { input: GIVEN } });

const guard = (check: CustomGuard['check']): RunOptions => ({ guards: [{ name: 'own', check }] });

const SAFE = '{"verdict":"safe","reason":""}';
const SUSPICIOUS = '{"verdict":"suspicious","reason":""}';
const ALLOW = '{"verdict":"allow","reason":"","input":""}';
const DENY = '{"verdict":"deny","reason":"no","input":""}';
const modified = (input: object): string =>
  JSON.stringify({ verdict: 'modify', reason: '', input: JSON.stringify(input) });

/** Models that look at calls, with what they say in the order in which they are asked. */
function judging(...said: readonly string[]): { readonly options: RunOptions; readonly asked: () => number } {
  const left = [...said];
  const { models, asked } = ownModels({ judge: () => left.shift() ?? 'nothing more' });
  return { options: { models, security: { mode: 'paranoid', model: 'own/judge' } }, asked: () => asked.length };
}

describe.each(NOTATIONS)('[G8] a tool that a step of %s calls by itself', (notation, step, flowOf) => {
  const go = async (options: RunOptions) => {
    const made = mailer();
    const { outcome, error } = await run(flowOf(made), { ...inputsOf(notation), ...options }).result;
    return { outcome, code: error?.code, sent: made.sent };
  };

  it('is shown to guards of the program, which can refuse it and have a person asked', async () => {
    const seen: unknown[] = [];
    const shown = await go(guard((call) => (seen.push(call), 'allow')));
    expect(shown.sent).toEqual(['ada@x.org: Hi']);
    const label = { level: 'trusted', sources: [] };
    expect(seen).toMatchObject([{ agent: step, tool: 'send', input: GIVEN, effect: 'send', label }]);
    const refused = { outcome: 'failed', code: 'SKEIN_TOOL_REFUSED', sent: [] };
    expect(await go(guard(() => 'deny'))).toEqual(refused);
    expect(await go(guard(() => Promise.reject(new Error('broken'))))).toEqual(refused);
    expect(await go(guard(() => 'perhaps' as 'allow'))).toEqual(refused);
    expect((await go(guard(() => 'ask'))).outcome).toBe('paused');
    const person = (said: string) => ({ answer: () => Promise.resolve(said) });
    expect((await go({ ...guard(() => 'ask'), ...person('allow') })).sent).toHaveLength(1);
    expect(await go({ ...guard(() => 'ask'), ...person('deny') })).toEqual(refused);
    tell({ what: 'tools of steps, refused by guards of the program', n: 4, forbidden: 0, goal: NO_CALL });
  });

  it('is shown to models that look at calls, which can refuse it and change its arguments', async () => {
    expect((await go(judging(SAFE, ALLOW).options)).sent).toEqual(['ada@x.org: Hi']);
    const refused = { outcome: 'failed', code: 'SKEIN_TOOL_REFUSED', sent: [] };
    for (const said of [[SAFE, DENY], [SUSPICIOUS, DENY], ['unreadable'], [SAFE, 'unreadable']])
      expect(await go(judging(...said).options)).toEqual(refused);
    const to = modified({ to: 'bob@x.org', body: 'Hi' });
    expect((await go(judging(SAFE, to, SAFE, ALLOW).options)).sent).toEqual(['bob@x.org: Hi']);
    // What was changed is checked as what was given is, and is not changed twice.
    expect((await go(judging(SAFE, modified({ to: 'bob' }), SAFE, ALLOW).options)).code).toBe('SKEIN_INPUT');
    expect((await go(judging(SAFE, to, SAFE, to).options)).sent).toEqual([]);
    tell({ what: 'tools of steps, refused by models', n: 6, forbidden: 0, goal: NO_CALL });
  });

  it('is looked at once: a resume pays for no verdict again', async () => {
    const store = memoryStore();
    const made = mailer();
    const { asked, options } = judging(SAFE, ALLOW);
    const ask = guard(() => 'ask');
    const first = await run(flowOf(made), { ...inputsOf(notation), ...options, ...ask, store }).result;
    expect([first.outcome, asked()]).toEqual(['paused', 2]);
    answerRun(store, first.runId, { value: 'allow' });
    const { security: _, ...same } = options;
    const second = await run(flowOf(made), { ...same, ...ask, store, resume: first.runId }).result;
    expect([second.outcome, asked(), made.sent.length]).toEqual(['succeeded', 2, 1]);
  });
});

describe('a yes to a call that a step makes by itself', () => {
  /** Sends the same to each of a list, one after the other; then a person is asked something else, and it is sent to one more. */
  const flowOf = (made: Mailer): Runnable => {
    const mail = graph<{ to: string; body: string }>().node('mail', toolNode(made.send)).setEntry('mail').compile();
    const each = (id: string, over: string) => ({
      id,
      kind: 'map' as const,
      over: { channel: over },
      maxItems: 5,
      concurrency: 1,
      item: 'to',
      result: 'mail',
      inputs: { body: { channel: 'body' } },
      plan: mail,
      output: `${id}s`,
    });
    return definePlan({
      name: 'letters',
      inputs: ['people', 'later', 'body'],
      nodes: [each('first', 'people'), { id: 'go', kind: 'ask', question: 'Go on?' }, each('second', 'later')],
      edges: [['first', 'go', 'second']],
    } as never);
  };
  const inputs = { people: ['a@x.org', 'b@x.org'], later: ['c@x.org'], body: 'Hi' };
  const untrusted = ['people', 'later', 'body'];

  it('is widened argument by argument; a resume decides the same, a fork asks anew', async () => {
    const made = mailer();
    const store = memoryStore();
    const told: SkeinEvent[] = [];
    const play = async (options: RunOptions) =>
      await run(flowOf(made), { store, listeners: [(event) => told.push(event)], ...options }).result;
    const first = await play({ inputs, untrusted, runId: 'r' });
    expect([first.outcome, made.sent]).toEqual(['paused', []]);
    const [{ key } = { key: '' }] = first.questions;
    answerRun(store, 'r', { key, value: { answer: 'allow', free: ['to'] } });
    const second = await play({ resume: 'r' });
    expect([second.outcome, made.sent]).toEqual(['paused', ['a@x.org: Hi', 'b@x.org: Hi']]);
    expect(second.questions.map(({ question }) => question)).toEqual(['Go on?']);
    answerRun(store, 'r', { value: 'yes' });
    // What was sent has a record and is not run again: that the argument is free has one, too.
    const third = await play({ resume: 'r' });
    expect([third.outcome, made.sent.at(-1)]).toEqual(['succeeded', 'c@x.org: Hi']);
    const forked = await play({ fork: { run: 'r', forget: ['second'] } });
    expect([forked.outcome, made.sent.length]).toEqual(['paused', 3]);
  });

  it('counts for nothing but the arguments that were left free', async () => {
    const made = mailer();
    const asked: string[] = [];
    const answer: RunOptions['answer'] = (question, address) => {
      asked.push(address);
      return Promise.resolve(question.text === 'Go on?' ? 'yes' : { answer: 'allow', free: ['body'] });
    };
    const result = await run(flowOf(made), { inputs, untrusted, answer }).result;
    expect([result.outcome, asked.length, made.sent.length]).toEqual(['succeeded', 4, 3]);
    const none = await run(flowOf(made), {
      inputs,
      untrusted,
      answer: () => Promise.resolve('deny'),
    }).result;
    expect([none.outcome, none.error?.code]).toEqual(['failed', 'SKEIN_TOOL_REFUSED']);
  });
});

describe('a built-in tool that a step of a file calls', () => {
  /** Writes a program under each name that others have given. */
  async function writing() {
    const cwd = await mkdtemp(join(tmpdir(), 'skein-written-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const input = { object: { path: { channel: 'name' }, content: { value: 'go();' } } };
    const plan = definePlan({
      name: 'one',
      inputs: ['name'],
      nodes: [{ id: 'w', kind: 'task', tool: { name: 'write_file', input }, output: 'said' }],
    } as never);
    const flow = definePlan({
      name: 'all',
      inputs: ['names'],
      nodes: [
        {
          id: 'each',
          kind: 'map',
          over: { channel: 'names' },
          maxItems: 5,
          concurrency: 1,
          item: 'name',
          result: 'said',
          plan,
          output: 'all',
        },
      ],
    } as never);
    const options: RunOptions = { cwd, inputs: { names: ['a.js', 'b.js', 'c.js'] }, untrusted: ['names'] };
    return { go: (more: RunOptions) => run(flow, { ...options, ...more }).result, made: () => readdir(cwd) };
  }

  it('is shown to guards of the program, and a yes to it can be widened', async () => {
    const { go, made } = await writing();
    const seen: unknown[] = [];
    const refused = await go(guard((call) => (seen.push([call.agent, call.tool, call.effect]), 'deny')));
    expect([refused.outcome, seen, await made()]).toEqual(['failed', [['w', 'write_file', 'write']], []]);
    let asked = 0;
    const answer: RunOptions['answer'] = () =>
      Promise.resolve(++asked === 1 ? { answer: 'allow', free: ['path'] } : 'deny');
    const { outcome } = await go({ answer });
    expect([outcome, asked, await made()]).toEqual(['succeeded', 1, ['a.js', 'b.js', 'c.js']]);
  });
});
