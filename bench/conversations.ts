import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model, ModelRequest } from '../src/agent/model.js';
import { definePlan, run } from '../src/index.js';
import type { Store } from '../src/index.js';
import { openPack } from '../src/machine.js';
import type { OpenPackOptions } from '../src/machine.js';
import { machinePlan } from '../src/notations/machine/plan/machine-plan.js';
import { readPack } from '../src/notations/machine/read-pack.js';
import { openSqliteStore } from '../src/sqlite.js';
import { median, printTable } from './measure.js';

const HAND_OVERS = 2_000;
/** Microseconds of processor time for a hand-over in memory, over the call of the model. */
const HAND_OVER_GOAL = 60;
const MANY = 10_000;
/** Bytes that a hand-over may leave on the heap: its entry in the log. */
const HEAP_GOAL = 1_000;
/** A recorded hand-over against a recorded step of an agent. */
const STEP_GOAL = 1.2;
const EARLY = 10;
const LATE = 1_000;
const TURN_GOAL = 1.5;
const ROUNDS = 5;
/** In fewer the ratio of two figures is one of chance. */
const RECORDED_ROUNDS = 31;
/** The compiler is at work in them. */
const WARM_UP_ROUNDS = 6;

/** Two states that hand over to each other, in fresh transcripts, and stop when the model says so. */
function ring(persistence: 'transient' | 'persistent'): object {
  const prompt = (name: string): object => ({ id: name, name, version: '1.0.0', system_template: `You are ${name}.` });
  const state = (to: string): object => ({ prompt_task: 'p', persistence, on_event: { Go: to } });
  return {
    id: 'ring',
    name: 'Ring',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { p: prompt('p') },
    workflow: { version: 2, entry: 'a', states: { a: state('b'), b: state('a') } },
  };
}

type Models = NonNullable<OpenPackOptions['models']>;

/** Of a conversation so many of the last messages are sent. */
const RECENT = 10;

/** A model that fires the event so many times, and then says something. */
function goes(times: number, called: () => void = () => undefined): Models {
  let left = times;
  const own = (): Model => ({
    id: 'own/m',
    async *stream() {
      called();
      const isLast = left === 0;
      left = isLast ? times : left - 1;
      if (isLast) yield { type: 'text', text: 'Done.' };
      else
        yield {
          type: 'tool-call',
          call: { id: 'c', name: 'workflow__transition', input: '{"event":"Go","context":""}' },
        };
      yield { type: 'finish', reason: isLast ? 'stop' : 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  return { env: {}, noProbe: true, override: 'own/m', providers: { own } };
}

/** A model that chooses the other agent so many times, and then the end. */
function answers(times: number): Models {
  let left = times;
  const own = (): Model => ({
    id: 'own/m',
    async *stream() {
      const answer = left === 0 ? 'stop' : 'go';
      left = left === 0 ? times : left - 1;
      yield { type: 'tool-call', call: { id: 'c', name: 'choose', input: JSON.stringify({ answer }) } };
      yield { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  return { env: {}, noProbe: true, override: 'own/m', providers: { own } };
}

/** Processor time in milliseconds since `before`. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Microseconds of a bare call of the model. */
async function callTime(times: number): Promise<number> {
  const { providers } = goes(times);
  const before = process.cpuUsage();
  for (let at = 0; at < times; at++) {
    const model = await providers?.['own']?.('m');
    for await (const part of (model as Model).stream({} as ModelRequest)) if (part.type === 'finish') break;
  }
  return (cpuSince(before) / times) * 1_000;
}

/** Microseconds of a hand-over in a run that nothing is kept of. */
async function inMemory(times: number): Promise<number> {
  const { pack } = readPack(ring('transient'));
  if (pack === undefined) throw new Error('the pack of the benchmark has errors');
  const workflow = machinePlan(pack, { maxHandOvers: times + 1 });
  const before = process.cpuUsage();
  const { outcome, error } = await run(workflow, { inputs: { message: 'Go.' }, models: goes(times) }).result;
  if (outcome !== 'succeeded') throw new Error(error?.message);
  return (cpuSince(before) / times) * 1_000;
}

/** Microseconds of a hand-over of a conversation. */
async function talked(times: number, options: OpenPackOptions = {}): Promise<number> {
  const conversation = await openPack(ring('transient'), { models: goes(times), maxHandOvers: times + 1, ...options });
  const before = process.cpuUsage();
  const { outcome, error } = await conversation.send('Go.');
  if (outcome !== 'succeeded') throw new Error(error?.message);
  return (cpuSince(before) / times) * 1_000;
}

async function bestOf(job: () => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await job());
  return Math.min(...all);
}

/** Bytes that each of many hand-overs in fresh transcripts leaves on the heap, in the second half of a turn. */
async function heapPerHandOver(): Promise<number> {
  const heap = new Map<number, number>();
  const look = (at: number): void => {
    if (at !== MANY / 2 && at !== MANY) return;
    globalThis.gc?.();
    heap.set(at, process.memoryUsage().heapUsed);
  };
  let at = 0;
  const { pack } = readPack(ring('transient'));
  if (pack === undefined) throw new Error('the pack of the benchmark has errors');
  const { outcome } = await run(machinePlan(pack, { maxHandOvers: MANY + 1 }), {
    inputs: { message: 'Go.' },
    models: goes(MANY, () => look((at += 1))),
  }).result;
  if (outcome !== 'succeeded') throw new Error(`the turn ${outcome}`);
  return ((heap.get(MANY) ?? 0) - (heap.get(MANY / 2) ?? 0)) / (MANY / 2);
}

/** What a recorded hand-over costs beside a recorded step of an agent: medians of microseconds, and of the ratio of two that follow each other. */
interface Beside {
  readonly messages: number;
  readonly handOver: number;
  readonly step: number;
  readonly ratio: number;
}

/** In a conversation of so many messages of which the last are sent. Both take turns: what else the machine does meets both. */
async function recordedSteps(messages: number, folder: string): Promise<Beside> {
  const times = 300;
  const said = Array.from({ length: messages }, (_, at) =>
    at % 2 === 0
      ? { role: 'user', text: `question ${at} ${'x'.repeat(80)}` }
      : { role: 'assistant', text: `answer ${at} ${'x'.repeat(80)}`, toolCalls: [] },
  );
  const store = await openSqliteStore(join(folder, `steps-${messages}.db`));
  const { pack } = readPack(ring('persistent'));
  if (pack === undefined) throw new Error('the pack of the benchmark has errors');
  const machine = machinePlan(pack, { maxHandOvers: times + 1, recent: RECENT });
  const other = chosen(times);
  const costOf = async (...[workflow, options]: Parameters<typeof run>): Promise<number> => {
    const before = process.cpuUsage();
    const { outcome, error } = await run(workflow, { ...options, store }).result;
    if (outcome !== 'succeeded') throw new Error(error?.message);
    return (cpuSince(before) / times) * 1_000;
  };
  const talk = [...said, { role: 'user', text: 'Go.' }];
  const rounds: Omit<Beside, 'messages'>[] = [];
  try {
    for (let round = -WARM_UP_ROUNDS; round < RECORDED_ROUNDS; round++) {
      const inputs = { message: 'Go.', conversation: said };
      const handOver = await costOf(machine, { inputs, models: goes(times) });
      const step = await costOf(other, { inputs: { talk }, models: answers(times) });
      if (round >= 0) rounds.push({ handOver, step, ratio: handOver / step });
    }
  } finally {
    store.close();
  }
  const middle = (name: 'handOver' | 'step' | 'ratio'): number => median(rounds.map((round) => round[name]));
  return { messages, handOver: middle('handOver'), step: middle('step'), ratio: middle('ratio') };
}

function besideStep({ messages, handOver, step, ratio }: Beside) {
  const figures = `${handOver.toFixed(0)} us by an agent's step of ${step.toFixed(0)} us`;
  const job = `recorded, of ${messages.toLocaleString('en')} messages: ${figures}`;
  return [job, ratio.toFixed(2), `<= ${STEP_GOAL}`, ratio <= STEP_GOAL] as const;
}

/** Two agents that choose each other, without a machine. */
function chosen(times: number): ReturnType<typeof definePlan> {
  const node = (id: string, to: string) => ({
    id,
    kind: 'agent' as const,
    join: 'each' as const,
    output: 'said',
    agent: { name: id, instructions: `You are ${id}.`, tools: [] },
    prompt: '',
    conversation: { channel: 'talk', recent: RECENT },
    choice: { answers: { go: { to }, stop: { to: 'END' } } },
  });
  return definePlan({
    name: 'chosen',
    channels: { talk: 'extend', said: 'last' },
    inputs: ['talk'],
    nodes: [node('a', 'b'), node('b', 'a')],
    routes: [
      { from: 'a', choose: 'result', targets: ['b', 'END'] },
      { from: 'b', choose: 'result', targets: ['a', 'END'] },
    ],
    entry: 'a',
    limits: { maxSteps: times + 10 },
  });
}

interface Cost {
  readonly ms: number;
  readonly bytes: number;
}

/** What the next turn of a conversation costs: one hand-over, and an answer. */
async function turnCosts(folder: string): Promise<readonly [early: Cost, late: Cost]> {
  const store = await openSqliteStore(join(folder, 'turns.db'));
  const costOf = async (thread: string): Promise<Cost> => {
    const row = `thread:${thread}`;
    const conversation = await openPack(ring('persistent'), { store, thread, models: goes(1), recent: RECENT });
    const batches = store.run(row)?.batches ?? 0;
    const before = process.cpuUsage();
    const { runId, outcome, error } = await conversation.send(`Go. ${'x'.repeat(80)}`);
    if (outcome !== 'succeeded') throw new Error(error?.message);
    return { ms: cpuSince(before), bytes: bytesOf(store, row, batches) + bytesOf(store, runId) };
  };
  try {
    for (let at = 1; at < LATE; at++) await costOf('long');
    const early: Cost[] = [];
    const late: Cost[] = [];
    for (let round = 0; round < 15; round++) {
      for (let at = 1; at < EARLY; at++) await costOf(`short-${round}`);
      early.push(await costOf(`short-${round}`));
      late.push(await costOf('long'));
    }
    const middle = (costs: readonly Cost[]): Cost => ({
      ms: median(costs.map(({ ms }) => ms)),
      bytes: median(costs.map(({ bytes }) => bytes)),
    });
    return [middle(early), middle(late)];
  } finally {
    store.close();
  }
}

/** Bytes that are recorded under a row. */
function bytesOf(store: Store, row: string, from = 0): number {
  return store.read(row, from).reduce((sum, batch) => sum + batch.text.length + batch.sum.length, 0);
}

/** What conversations with packs cost. Gives the goals that were missed. */
export async function benchConversations(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-conversations-'));
  try {
    const call = await bestOf(() => callTime(HAND_OVERS));
    const memory = (await bestOf(() => inMemory(HAND_OVERS))) - call;
    const talk = (await bestOf(() => talked(HAND_OVERS))) - call;
    const heap = await heapPerHandOver();
    const recorded: Beside[] = [];
    for (const messages of [100, 5_000]) recorded.push(await recordedSteps(messages, folder));
    const [early, late] = await turnCosts(folder);
    const rows: (readonly [job: string, figure: string, goal: string, isHeld: boolean])[] = [
      [
        'hand-over in memory, over the call of the model',
        `${memory.toFixed(0)} us`,
        `<= ${HAND_OVER_GOAL} us`,
        memory <= HAND_OVER_GOAL,
      ],
      ['the same of openPack without a store, which keeps a journal', `${talk.toFixed(0)} us`, '', true],
      [
        `heap left by each of ${MANY.toLocaleString('en')} hand-overs in fresh transcripts`,
        `${heap.toFixed(0)} B`,
        `<= ${HEAP_GOAL} B`,
        heap <= HEAP_GOAL,
      ],
      ...recorded.map(besideStep),
      [
        `turn ${LATE.toLocaleString('en')} (${late.ms.toFixed(1)} ms) by turn ${EARLY} (${early.ms.toFixed(1)} ms), time`,
        (late.ms / early.ms).toFixed(2),
        `<= ${TURN_GOAL}`,
        late.ms / early.ms <= TURN_GOAL,
      ],
      [
        `turn ${LATE.toLocaleString('en')} (${late.bytes} B) by turn ${EARLY} (${early.bytes} B), bytes`,
        (late.bytes / early.bytes).toFixed(2),
        `<= ${TURN_GOAL}`,
        late.bytes / early.bytes <= TURN_GOAL,
      ],
    ];
    const cells = rows.map(([job, figure, goal, isHeld]) => [job, figure, goal, isHeld ? 'yes' : 'NO']);
    printTable('Conversations with packs: processor time, best or median', ['job', 'figure', 'goal', 'held'], cells);
    return cells
      .filter(([, , , held]) => held === 'NO')
      .map(([job, figure, goal]) => `${job}: ${figure}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
