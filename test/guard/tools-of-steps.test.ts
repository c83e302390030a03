import { describe, expect, it } from 'vitest';
import type { RunOptions, RunResult, SkeinEvent } from 'skein';
import { answerRun, definePlan, memoryStore, run } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';
import { packComposition } from '../../src/notations/machine/compositions/pack-composition.js';
import { NO_CALL, tell } from './support/figures.js';

const MAIL = {
  type: 'object',
  properties: { to: { type: 'string' }, body: { type: 'string' } },
  required: ['to', 'body'],
} as const;

interface Desk {
  readonly effect?: 'read' | 'idempotent' | 'once';
  readonly approve?: true;
  readonly sends?: readonly {
    readonly tool: string;
    readonly fixed?: { readonly to: string };
    readonly free?: readonly string[];
  }[];
}

/** A graph that sends what it is given, and what was sent. */
function desk({ effect = 'idempotent', approve, sends }: Desk = {}) {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    inputSchema: MAIL,
    effect,
    ...(approve && { approve }),
    execute: ({ to, body }) => {
      sent.push(`${String(to)}: ${String(body)}`);
      return 'sent';
    },
  });
  const flow = graph<{ to: string; body: string }>({ ...(sends && { sends }) })
    .node('mail', toolNode(send))
    .setEntry('mail');
  return { flow, sent };
}

const GIVEN = { inputs: { to: 'ada@example.com', body: 'Hi' } };
const FROM_OTHERS: RunOptions = { ...GIVEN, untrusted: ['body'] };
const go = async ({ flow }: ReturnType<typeof desk>, options: RunOptions): Promise<RunResult> =>
  await run(flow.compile(), options).result;

describe('[G2] a tool that a step calls by itself is decided about as a call of an agent is', () => {
  it.each([
    ['what the user gave alone', GIVEN, {}, 'succeeded', 1],
    ['a text of others', FROM_OTHERS, {}, 'paused', 0],
    ['a text of others, for a tool that reads', FROM_OTHERS, { effect: 'read' }, 'succeeded', 1],
    [
      'a text of others, where it is declared',
      FROM_OTHERS,
      { sends: [{ tool: 'send', fixed: { to: 'ada@example.com' }, free: ['body'] }] },
      'succeeded',
      1,
    ],
    [
      'a text of others, where another recipient is declared',
      FROM_OTHERS,
      { sends: [{ tool: 'send', fixed: { to: 'bob@example.com' }, free: ['body'] }] },
      'paused',
      0,
    ],
    [
      'a text of others, where the declared recipient is an input of the user',
      FROM_OTHERS,
      { sends: [{ tool: 'send', fixed: { to: '{{to}}' }, free: ['body'] }] },
      'succeeded',
      1,
    ],
    [
      'a text of others, where the declared recipient is an input of others, too',
      { ...GIVEN, untrusted: ['to', 'body'] },
      { sends: [{ tool: 'send', fixed: { to: '{{to}}' }, free: ['body'] }] },
      'paused',
      0,
    ],
    [
      'a text of others, declared by a policy of the user',
      { ...FROM_OTHERS, policy: [{ file: 'own', widens: true, sends: [{ tool: 'send', free: ['to', 'body'] }] }] },
      {},
      'succeeded',
      1,
    ],
    [
      'a text of others, declared by a policy of the project',
      { ...FROM_OTHERS, policy: [{ file: 'project', sends: [{ tool: 'send', free: ['to', 'body'] }] }] },
      {},
      'paused',
      0,
    ],
    [
      'what the user gave, in a project of strangers',
      { ...GIVEN, policy: [{ file: 'own', widens: true, project: 'untrusted' }] },
      {},
      'paused',
      0,
    ],
    ['what the user gave, against a policy', { ...GIVEN, policy: [{ file: 'own', deny: ['send'] }] }, {}, 'failed', 0],
  ] satisfies readonly (readonly [string, RunOptions, Desk, string, number])[])(
    '%s',
    async (_, options, more, outcome, count) => {
      for (const store of [undefined, memoryStore()]) {
        const made = desk(more);
        const result = await go(made, { ...options, ...(store && { store }) });
        expect([result.outcome, made.sent.length]).toEqual([outcome, count]);
      }
      tell({ what: 'tools of steps', n: 2, forbidden: 0, goal: NO_CALL });
    },
  );

  it('the question shows the call, why it is asked, and what would allow it; listeners are told', async () => {
    const events: SkeinEvent[] = [];
    const result = await go(desk(), { ...FROM_OTHERS, listeners: [(event) => events.push(event)] });
    expect(result.questions).toMatchObject([
      {
        question: 'May the step "mail" call send? Untrusted text influenced it.',
        evidence: {
          tool: 'send',
          input: { to: 'ada@example.com', body: 'Hi' },
          rule: 'undeclared-send',
          sources: ['input:body'],
          declare: 'sends: [{ tool: send, fixed: { to: ..., body: ... }, free: [] }]',
          label: { level: 'untrusted', private: false },
        },
      },
    ]);
    const notes = events.flatMap((event) => (event.type === 'step.note' ? [event.note] : []));
    expect(notes).toContainEqual(
      expect.objectContaining({ kind: 'guard.decided', tool: 'send', decision: 'ask', rule: 'undeclared-send' }),
    );
  });

  it('a yes counts for this call in this run; a fork asks anew, a resume of what was sent does not', async () => {
    const made = desk({ approve: true });
    const store = memoryStore();
    const first = await go(made, { ...FROM_OTHERS, store });
    answerRun(store, first.runId, { value: 'allow' });
    // The tool asks for itself in addition only where the guard has nothing to ask.
    const second = await go(made, { store, resume: first.runId });
    expect([second.outcome, made.sent]).toEqual(['succeeded', ['ada@example.com: Hi']]);
    expect((await go(made, { store, resume: first.runId })).ran).toBe(0);
    const forked = await go(made, { store, fork: { run: first.runId, forget: ['mail'] } });
    expect([forked.outcome, made.sent.length]).toEqual(['paused', 1]);
  });

  it('a no is a failure of the step, which no retry asks about again', async () => {
    const made = desk();
    const store = memoryStore();
    const first = await go(made, { ...FROM_OTHERS, store });
    answerRun(store, first.runId, { value: 'deny' });
    const { error } = await go(made, { store, resume: first.runId });
    expect([error?.code, error?.message, made.sent]).toEqual([
      'SKEIN_TOOL_REFUSED',
      'a person refused this call of send',
      [],
    ]);
  });

  it('in a plan that a step calls, and in each item of a map', async () => {
    const made = desk();
    const around = definePlan({
      name: 'around',
      inputs: ['to', 'bodies'],
      nodes: [
        {
          id: 'each',
          kind: 'map',
          over: { channel: 'bodies' },
          maxItems: 5,
          item: 'body',
          result: 'mail',
          inputs: { to: { channel: 'to' } },
          plan: made.flow.compile(),
          output: 'mails',
        },
      ],
    } as never);
    const inputs = { to: 'ada@example.com', bodies: ['a', 'b'] };
    expect((await run(around, { inputs }).result).outcome).toBe('succeeded');
    expect(made.sent).toHaveLength(2);
    const { outcome, questions } = await run(around, { inputs, untrusted: ['bodies'] }).result;
    expect([outcome, questions?.length, made.sent.length]).toEqual(['paused', 2, 2]);
  });

  it('in a composition of a pack', async () => {
    const sent: unknown[] = [];
    const send = tool({
      name: 'send',
      inputSchema: { type: 'object' },
      effect: 'once',
      execute: (input) => sent.push(input),
    });
    const composition = {
      version: 1 as const,
      steps: [{ id: 's', kind: 'tool' as const, tool: 'send', args: { to: '${input.to}' } }],
      output: 's',
    };
    const pack = { id: 'p', prompts: {}, compositions: { c: composition } };
    const definition = packComposition(pack, 'c', { tools: { send } });
    const options = { inputs: { input: { to: 'ada@example.com' } } };
    expect((await run(definition, options).result).outcome).toBe('succeeded');
    expect((await run(definition, { ...options, untrusted: ['input'] }).result).outcome).toBe('paused');
    expect(sent).toHaveLength(1);
  });
});
