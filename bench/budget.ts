import { SizeOfCall } from '../src/agent/loop/call-cost.js';
import type { Message, Model } from '../src/agent/model.js';
import { limitsIn } from '../src/agent/models/rate-headers.js';
import { systemClock } from '../src/base/clock.js';
import { amountOfCall } from '../src/budget/amount.js';
import { estimateCall } from '../src/budget/estimate.js';
import { Governor } from '../src/budget/governor.js';
import { BudgetLedger } from '../src/budget/ledger.js';
import type { Limit, Reservation } from '../src/budget/ledger.js';
import { definePlan, run } from '../src/index.js';
import { measure, printTable } from './measure.js';
import type { Case } from './measure.js';

const MANY = 10_000;
const ROUNDS = 20;
const MODELS = { env: {}, noProbe: true, override: 'own/m', providers: { own: speaker } };

function speaker(): Model {
  return {
    id: 'own/m',
    async *stream() {
      yield { type: 'text', text: 'Done.' };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 1 } };
    },
  };
}

const CALL = { usd: 0.012_345_678, tokens: 9_000, calls: 1, toolCalls: 0 };
const SPENT = { usd: 0.004_2, tokens: 3_100, calls: 1, toolCalls: 0 };
const PATHS = Array.from({ length: MANY }, (_, at) => `scan[file-${at}.ts]/read`);

/** A run with a budget of its own, and two more on the way to the step. */
function ledgerOf(usd: number): BudgetLedger {
  const limits: readonly Limit[] = [
    { name: 'run', path: '', budget: { usd, tokens: 1e12 } },
    { name: 'step scan', path: 'scan', budget: { usd: usd * 2, calls: 1e9 } },
    { name: 'step scan/read', path: 'scan/read', budget: { tokens: 1e12 } },
  ];
  return new BudgetLedger(limits);
}

const roomy = ledgerOf(1e6);

const LONG = 1_000;
const TURNS = 500;
const USAGE = { inputTokens: 40_000, outputTokens: 120 };

const EARLIER = Array.from({ length: LONG }, (_, at) => saidAs(at));

/** Each turn reads what came since the last one: an answer with a call, and its result. */
function reserveTurns(): void {
  const messages = [...EARLIER];
  for (let turn = 0; turn < TURNS; turn++) {
    messages.push(saidAs(2 * turn), saidAs(2 * turn + 1));
    const size = new SizeOfCall({ messages, tools: [] }, () => messages.slice(-2), {
      last: USAGE,
      maxOutputTokens: 4_096,
      strict: undefined,
    });
    roomy.reserve('scan[a]/read', amountOfCall({ usage: estimateCall(size) })).settle(SPENT);
  }
}

function saidAs(at: number): Message {
  const id = `c${at}`;
  if (at % 2 === 0)
    return { role: 'assistant', text: '', toolCalls: [{ id, name: 'read', input: '{"path":"src/a.ts"}' }] };
  return { role: 'tool', results: [{ id, name: 'read', output: 'x'.repeat(400), isError: false }] };
}

const CASES: readonly Case[] = [
  {
    name: 'reserve and settle, three limits',
    units: MANY,
    candidates: {
      us: () => {
        for (const path of PATHS) roomy.reserve(path, CALL).settle(SPENT);
      },
    },
    goal: '<= 5 us',
    holds: ({ us = Number.NaN }) => us <= 5,
  },
  {
    name: `the same for turns of a conversation of ${LONG} messages, the bytes of its new ones counted`,
    units: TURNS,
    candidates: { us: reserveTurns },
    goal: '<= 5 us',
    holds: ({ us = Number.NaN }) => us <= 5,
  },
  {
    name: `${MANY} queued, served one after the other`,
    units: MANY,
    candidates: {
      us: () => {
        // There is room for eight at once, and enough for all: every one but the first eight waits in line.
        const ledger = ledgerOf(MANY * SPENT.usd + 8 * CALL.usd);
        const asked = PATHS.map((path) => ledger.reserve(path, CALL));
        settleInOrder(asked);
      },
    },
    goal: '<= 10 us',
    holds: ({ us = Number.NaN }) => us <= 10,
  },
  {
    name: `${MANY} calls queued for a provider, of two runs, each answered with headers`,
    units: MANY,
    candidates: { us: passAll },
    goal: '<= 10 us',
    holds: ({ us = Number.NaN }) => us <= 10,
  },
];

const ANSWER = {
  status: 200,
  headers: {
    'x-ratelimit-limit-requests': '1000000',
    'x-ratelimit-remaining-requests': '900000',
    'x-ratelimit-reset-requests': '6s',
    'x-ratelimit-limit-tokens': '1000000000',
    'x-ratelimit-remaining-tokens': '900000000',
    'x-ratelimit-reset-tokens': '6s',
  },
};

/** The first sixteen pass at once; all others wait until one before them is over. */
async function passAll(): Promise<void> {
  const governor = new Governor(systemClock);
  const asked = PATHS.map((_, at) => governor.enter({ run: `run ${at % 2}`, input: 1_000, output: 500 }));
  for (const pass of asked) {
    await pass.ready();
    pass.tell(limitsIn(ANSWER, systemClock.now()));
    pass.leave(1_200);
  }
}

function settleInOrder(asked: readonly Reservation[]): void {
  for (const one of asked) {
    if (one.state !== 'held') throw new Error(`${one.state} out of its order`);
    one.settle(SPENT);
  }
}

const STEPS = 500;

/** Microseconds of processor time of an agent's step in memory, without a budget and with one: the best of several, taken in turns. */
async function steps(): Promise<readonly [without: number, withOne: number]> {
  const ids = Array.from({ length: STEPS }, (_, at) => `s${at}`);
  const agent = { models: ['own/m'], tools: [], instructions: 'You write.' };
  const plan = definePlan({
    name: 'steps',
    nodes: ids.map((id) => ({ id, kind: 'agent' as const, agent, prompt: 'Write.', output: 'last' })),
    edges: [ids],
  });
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, budget] of [undefined, { tokens: 1e12 }].entries()) {
      const before = process.cpuUsage();
      const { outcome } = await run(plan, { models: MODELS, ...(budget === undefined ? {} : { budget }) }).result;
      const { user, system } = process.cpuUsage(before);
      if (outcome !== 'succeeded') throw new Error(`the run ${outcome}`);
      best[at] = Math.min(best[at] ?? 0, (user + system) / STEPS);
    }
  }
  return best;
}

/** What budgets cost a call. */
export async function benchBudget(): Promise<string[]> {
  const rows: string[][] = [];
  const missed: string[] = [];
  for (const one of CASES) {
    const times = await measure(one);
    const us = ((times['us'] ?? Number.NaN) * 1_000) / one.units;
    rows.push([one.name, us.toFixed(2), one.goal ?? '']);
    if (one.holds?.({ us }) === false) missed.push(`${one.name}: ${us.toFixed(2)} us, goal ${one.goal}`);
  }
  const [without, withOne] = await steps();
  rows.push(["an agent's step in memory without a budget, processor time", without.toFixed(2), '']);
  rows.push(['the same with a budget of the run', withOne.toFixed(2), '']);
  printTable('Budgets, microseconds a call', ['what', 'us', 'goal'], rows);
  return missed;
}
