import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Context, PackMessage, TurnResult } from 'skein/machine';
import type { WireAnswer } from '../../agent/support/wire-formats.js';
import { programOf } from '../../programs.js';
import { packOf } from '../support/talking.js';
import { strictProvider } from '../support/strict-provider.js';
import type { Asked } from '../support/strict-provider.js';
import type { Talk } from '../support/talker.js';

let calls = 0;

const PACK = packOf(
  {
    intake: { on_event: { Escalate: 'desk' }, artifacts: { log: { type: 'text/plain', mode: 'append' } } },
    desk: { on_event: { Check: 'check', Done: 'end' } },
    check: { persistence: 'transient', on_event: { Ok: 'desk' } },
    end: { terminal: true },
  },
  {
    tools: {
      look: {
        name: 'look',
        description: 'Looks.',
        parameters: { type: 'object', properties: { what: { type: 'string' } } },
      },
    },
    prompts: { p0: { tools: ['look'] } },
  },
  { end: 'You are end. [{{artifacts.log}}]' },
);

/** What each state says, by how often it was answered before in this turn. */
const SAYS: Readonly<Record<string, readonly WireAnswer[]>> = {
  intake: [
    { text: 'I look.', calls: [call('look', { what: 'order' })] },
    {
      calls: [
        call('workflow__set_artifact', { name: 'log', value: 'seen;' }),
        call('workflow__transition', { event: 'Escalate', context: 'x' }),
      ],
    },
  ],
  desk: [
    { calls: [call('workflow__transition', { event: 'Check', context: '' })] },
    {
      calls: [
        call('workflow__set_artifact', { name: 'log', value: 'checked;' }),
        call('workflow__transition', { event: 'Done', context: '' }),
      ],
    },
  ],
  check: [{ calls: [call('workflow__transition', { event: 'Ok', context: '' })] }],
  end: [{ text: 'Bye.' }],
};

function call(name: string, input: object): NonNullable<WireAnswer['calls']>[number] {
  calls += 1;
  return { id: `call_${calls}`, name, input: JSON.stringify(input) };
}

interface Spoken {
  readonly turn: TurnResult | undefined;
  readonly context: Context;
  readonly messages: readonly PackMessage[];
}

/** A conversation whose first process is killed when the provider gets its nth request, in place of an answer; then another one brings the turn to its end. */
async function killedAt(nth: number, model: string) {
  const dir = mkdtempSync(join(tmpdir(), 'skein-killed-'));
  const program = await programOf(resolve(import.meta.dirname, '../support/talker.ts'));
  let kill = (): void => undefined;
  const answered: Asked[] = [];
  const said: Record<string, number> = {};
  await using provider = await strictProvider(async (asked) => {
    if (provider.asked.length === nth) {
      kill();
      await new Promise(() => undefined);
    }
    answered.push(asked);
    const speaker = /You are (\w+)\./.exec(asked.system)?.[1] ?? '';
    const at = (said[speaker] = (said[speaker] ?? 0) + 1) - 1;
    const answer = SAYS[speaker]?.[at];
    if (answer === undefined) throw new Error(`nobody planned that ${speaker} speaks again`);
    return answer;
  });
  const talk: Talk = {
    store: join(dir, 'runs.db'),
    thread: 't',
    pack: PACK,
    model,
    env: provider.env,
    calls: join(dir, 'calls'),
  };
  writeFileSync(talk.calls, '');
  const start = (one: Talk) =>
    spawn(process.execPath, [program, JSON.stringify(one)], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const first = start({ ...talk, message: 'My order is late.' });
    kill = () => first.kill('SIGKILL');
    const [, signal] = (await once(first, 'exit')) as [number | null, string | null];
    const second = start(talk);
    let text = '';
    second.stdout.on('data', (chunk) => (text += String(chunk)));
    await once(second, 'close');
    const { turn, context, messages } = JSON.parse(text) as Spoken;
    return {
      signal,
      turn,
      context,
      messages,
      answered,
      refused: provider.refused,
      looked: readFileSync(talk.calls, 'utf8'),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

describe.each([
  ['openai/gpt-5-mini', [1, 3, 4, 6]],
  ['anthropic/claude-sonnet-4-5', [2, 5]],
])('%s', (model, points) => {
  // 1: before anything is recorded; 2: after the call of a tool; 3: after an artifact and its hand-over; 4: in a transient state; 5: after it; 6: at the end.
  it.each(points)('[23] killed at call %i of its model and resumed repeats no call that was answered', async (nth) => {
    const { signal, turn, context, messages, answered, refused, looked } = await killedAt(nth, model);
    expect([signal, refused]).toEqual(['SIGKILL', []]);
    expect([turn?.outcome, turn?.text, turn?.state, turn?.complete]).toEqual(['succeeded', 'Bye.', 'end', true]);
    // A request that was answered is never made again.
    expect(answered).toHaveLength(6);
    expect(new Set(answered.map((one) => JSON.stringify(one))).size).toBe(6);
    expect(looked).toBe('order\n');
    expect(context).toMatchObject({
      current_state: 'end',
      visit_counts: { intake: 1, desk: 2, check: 1, end: 1 },
      total_tool_calls: 7,
      artifacts: { log: 'seen;checked;' },
    });
    expect(answered.at(-1)?.system).toBe('You are end. [seen;checked;]');
    expect(turn?.transitions.map(({ to }) => to)).toEqual(['desk', 'check', 'desk', 'end']);
    expect(turn?.events.map(({ type }) => type.replace('workflow.', ''))).toEqual([
      ...Array<string>(4).fill('transitioned'),
      'completed',
    ]);
    expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(5);
    expect(answered[3]?.lines).toEqual(['user: My order is late.']);
  });
});
