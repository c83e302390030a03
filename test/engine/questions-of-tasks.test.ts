import { describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import type { AnswerQuestion } from '../../src/engine/durable/memory-questions.js';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import type { Executor } from '../../src/engine/ports/executor.js';
import { startRun } from '../../src/engine/run.js';
import type { RunResult } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { TaskStep } from '../../src/plan/builder-input.js';
import type { AgentNode, Plan } from '../../src/plan/plan.js';
import { FakeClock, ManualDurable } from '../../src/testing/index.js';
import { outcomes, plan, task, type State } from './plans.js';

type Body = (state: State, step: TaskStep) => unknown;

const RETRIED = { retries: 2, backoff: 'fixed', delayMs: 0, on: 'any' } as const;
const one = plan({ nodes: [task('t', { output: 'out', retry: RETRIED })] });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

async function runWith(body: Body, answer?: AnswerQuestion, thePlan: Plan = one): Promise<RunResult> {
  const durable = new MemoryDurable('r', { answer });
  return await startRun(thePlan, { durable, bindings: { t: body } }).result;
}

describe('a task that asks a person', () => {
  test('gets the answer; questions are numbered unless they have a name', async () => {
    const asked: unknown[] = [];
    const answer: AnswerQuestion = (question, address) => {
      asked.push([address, question]);
      return Promise.resolve(question.schema === undefined ? 'words' : 'b');
    };
    const body: Body = async (_state, step) => [
      await step.ask({ text: 'First?' }),
      await step.ask({ text: 'Which?', choices: ['a', 'b'] }, 'which'),
      await step.ask({ text: 'Third?', schema: { type: 'string' } }),
    ];
    const result = await runWith(body, answer);
    expect(result.state).toEqual({ out: ['words', 'b', 'b'] });
    expect(asked).toEqual([
      ['t@ask:1', { text: 'First?' }],
      ['t@ask:which', { text: 'Which?', choices: ['a', 'b'], schema: { enum: ['a', 'b'] } }],
      ['t@ask:3', { text: 'Third?', schema: { type: 'string' } }],
    ]);
  });

  test.each([
    ['there is nobody', undefined],
    ['whoever is there can not say', () => Promise.reject(new SkeinError('SKEIN_QUESTION', 'no terminal'))],
  ] as const)('is paused, not failed or tried again, when %s', async (_why, answer) => {
    let calls = 0;
    const events: SkeinEvent[] = [];
    const durable = new MemoryDurable('r', { answer });
    const body: Body = async (_state, step) => {
      calls += 1;
      return await step.ask({ text: 'Publish?' });
    };
    const { result } = startRun(one, { durable, bindings: { t: body }, listeners: [(event) => events.push(event)] });
    expect(await result).toMatchObject({ outcome: 'paused', steps: [{ path: 't', reason: 'Publish?' }], ran: 0 });
    expect(calls).toBe(1);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'step.ended', outcome: 'paused', reason: 'Publish?' }),
    );
  });

  test('may go on without an answer', async () => {
    const body: Body = (_state, step) => step.ask({ text: 'Publish?' }).catch(() => 'undecided');
    expect((await runWith(body)).state).toEqual({ out: 'undecided' });
  });

  test('an answer that is not asked for fails the step', async () => {
    const body: Body = (_state, step) => step.ask({ text: 'Which?', choices: ['a', 'b'] });
    const strict = plan({ nodes: [task('t', { output: 'out' })] });
    const result = await runWith(body, () => Promise.resolve('c'), strict);
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_ANSWER' } });
  });

  test('the other steps go on meanwhile; with a manual back end answers come in the order of the test', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const two = plan({ nodes: [task('x', { output: 'x' }), task('y', { output: 'y' }), task('z', { output: 'z' })] });
    const body: Body = (_state, step) => step.ask({ text: `${step.path}?` }, step.path);
    const { result } = startRun(two, { durable, bindings: { x: body, y: body, z: () => 'z' } });
    await turn();
    expect(durable.delivered).toEqual(['z']);
    durable.answer('y', 'second');
    await turn();
    expect(durable.delivered).toEqual(['z', 'y']);
    durable.refuse('x');
    const ended = await result;
    expect(ended.state).toEqual({ y: 'second', z: 'z' });
    expect(outcomes(ended)).toEqual({ x: 'paused' });
    expect(ended.steps[0]?.reason).toBe('x?');
  });

  test('the clock of the attempt, and those around it, stand still meanwhile', async () => {
    const clock = new FakeClock(0);
    const answers: ((answer: string) => void)[] = [];
    const durable = new MemoryDurable('r', { clock, answer: () => new Promise((resolve) => answers.push(resolve)) });
    const inner = plan({ nodes: [task('in', { output: 'out', timeoutMs: 1_000 })] });
    const outer = plan({ nodes: [{ kind: 'call', id: 'sub', plan: inner, output: 'out', timeoutMs: 1_500 }] });
    const body: Body = async (_state, step) => {
      const first = await step.ask({ text: '1' });
      await new Promise<void>((resolve) => clock.setTimer(900, resolve));
      return [first, await step.ask({ text: '2' })];
    };
    const { result } = startRun(outer, { durable, bindings: { 'sub/in': body } });
    for (const answer of ['a', 'b']) {
      await turn();
      expect(clock.waiting).toBe(0);
      clock.advance(3_600_000);
      answers.shift()?.(answer);
      await turn();
      clock.advance(900);
    }
    expect(await result).toMatchObject({ outcome: 'succeeded', state: { out: ['a', 'b'] } });
  });

  test('time that is not spent on questions counts', async () => {
    const clock = new FakeClock(0);
    const durable = new MemoryDurable('r', { clock, answer: () => Promise.resolve('a') });
    const late = plan({ nodes: [task('t', { timeoutMs: 1_000 })] });
    const body: Body = async (_state, step) => {
      await new Promise<void>((resolve) => clock.setTimer(600, resolve));
      await step.ask({ text: '1' });
      await new Promise(() => undefined);
    };
    const { result } = startRun(late, { durable, bindings: { t: body } });
    clock.advance(600);
    await turn();
    clock.advance(399);
    expect(clock.waiting).toBe(1);
    clock.advance(1);
    expect((await result).error?.code).toBe('SKEIN_TIMEOUT');
  });

  test('an attempt that is over asks nobody', async () => {
    const asked: string[] = [];
    const answer: AnswerQuestion = ({ text }) => Promise.resolve(asked.push(text));
    const clock = new FakeClock(0);
    const durable = new MemoryDurable('r', { clock, answer });
    let refused: unknown;
    const body: Body = async (_state, step) => {
      await new Promise<void>((resolve) => clock.setTimer(2_000, resolve));
      refused = await step.ask({ text: 'Late?' }).catch((error: unknown) => error);
    };
    const late = plan({ nodes: [task('t', { timeoutMs: 1_000 })] });
    const { result } = startRun(late, { durable, bindings: { t: body } });
    clock.advance(5_000);
    await result;
    await turn();
    expect(refused).toMatchObject({ code: 'SKEIN_CANCELLED' });
    expect(asked).toEqual([]);
  });
});

describe('an executor whose effect asks', () => {
  test('is paused with the question when nobody can answer, however it hands the error on', async () => {
    const agent: AgentNode = {
      kind: 'agent',
      id: 'a',
      agent: { name: 'a', instructions: [], models: [] },
      prompt: [],
      retry: RETRIED,
    };
    const executor: Executor<AgentNode> = async (_node, step) => ({
      type: 'done',
      output: await step.effect('tool', (io) => io.ask('outcome', { text: 'Did it happen?' })),
    });
    const result = await startRun(plan({ nodes: [agent] }), { executors: { agent: executor } }).result;
    expect(result).toMatchObject({ outcome: 'paused', steps: [{ path: 'a', reason: 'Did it happen?' }] });
  });
});
