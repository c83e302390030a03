import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStore, readBudget, readRun, run } from 'skein';
import type { RunOptions, Store } from 'skein';
import { seededRandom } from '../../src/testing/index.js';
import { linesOf, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { isBelow } from '../../src/engine/durable/alive-time.js';
import { THOROUGH, seedOf } from '../thorough.js';
import type { Bill, Provider } from './random-providers.js';
import { BUDGET, keyOf, PARTS, planOf, randomProvider } from './random-providers.js';

/** Billionths of a dollar for a token. */
const NANOS = { input: 1_100, output: 4_333 };
const PRICES = { models: { 'own/*': { input: NANOS.input / 1_000, output: NANOS.output / 1_000 } } };
const INPUTS = { items: ['a', 'b', 'c'] };
const SEED = seedOf(20);
const OPTIONS = { numRuns: THOROUGH ? 400 : 12, seed: SEED };

/** Tokens, calls and billionths of a dollar. */
interface Sum {
  usd: number;
  tokens: number;
  calls: number;
}

const sizeOf = ({ usage: { inputTokens, outputTokens }, calls }: Bill): Sum => ({
  usd: inputTokens * NANOS.input + outputTokens * NANOS.output,
  tokens: inputTokens + outputTokens,
  calls,
});

function sumOf(bills: readonly Bill[], path = ''): Sum {
  const sum = { usd: 0, tokens: 0, calls: 0 };
  for (const bill of bills) {
    if (!isBelow(bill.key, path)) continue;
    const size = sizeOf(bill);
    for (const measure of ['usd', 'tokens', 'calls'] as const) sum[measure] += size[measure];
  }
  return sum;
}

async function play(plan: ReturnType<typeof planOf>, provider: Provider, options: RunOptions) {
  const models = { env: {}, noProbe: true, providers: provider.providers, override: 'own/m' };
  return await run(plan, { models, prices: PRICES, runId: 'r', ...options }).result;
}

/** What a call may have taken more than was reserved for it, of each that was made; none for the others. */
function excessOf(store: Store, bills: readonly Bill[], path: string): Sum {
  const sum = { usd: 0, tokens: 0, calls: 0 };
  const left = [...bills];
  for (const { key, reserved } of starts(linesOf(store, 'r'))) {
    const at = left.findIndex((bill) => bill.key === key);
    const [bill] = at < 0 ? [] : left.splice(at, 1);
    if (bill === undefined || !isBelow(key, path)) continue;
    const size = sizeOf(bill);
    sum.usd += Math.max(0, size.usd - Math.round(reserved.usd * 1e9));
    sum.tokens += Math.max(0, size.tokens - reserved.tokens);
  }
  return sum;
}

/** What was reserved, in order. */
function starts(lines: readonly string[]): { readonly key: string; readonly reserved: Sum }[] {
  return lines
    .map((line) => JSON.parse(line) as { t: string; key: string; reserved?: Sum })
    .flatMap(({ t, key, reserved }) =>
      t === 'start' && reserved !== undefined ? [{ key: keyOf(key), reserved }] : [],
    );
}

/** No limit of the run is passed by what was billed, but for the excess; and no less is shown than was billed. */
function check(store: Store, bills: readonly Bill[]): void {
  for (const { name, measure, spent, limit } of readBudget(store, 'r')) {
    if (measure === 'time' || measure === 'toolCalls') continue;
    const path = name === 'run' ? '' : name.slice('step '.length);
    const unit = measure === 'usd' ? 1e9 : 1;
    const billed = sumOf(bills, path)[measure];
    const shown = Math.round(spent * unit);
    const excess = excessOf(store, bills, path)[measure];
    const most = Math.round(limit * unit) + excess;
    const is = {
      name,
      measure,
      isWithin: billed <= most,
      isShown: shown + excess >= billed,
      showsWithin: shown <= most,
    };
    expect(is).toEqual({ name, measure, isWithin: true, isShown: true, showsWithin: true });
  }
}

describe('[15] random plans, prices, failures and edits under random budgets', () => {
  it('what is shown is what was billed, with and without a store; no limit is passed', async () => {
    const ended = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        PARTS,
        BUDGET,
        fc.nat(),
        fc.boolean(),
        fc.boolean(),
        async (parts, budget, seed, trouble, stored) => {
          const provider = randomProvider(`${seed}`, { trouble, excess: false });
          const store = stored ? memoryStore() : undefined;
          const options = { inputs: INPUTS, budget, ...(store && { store }) };
          const { outcome, spent } = await play(planOf(parts, 'You work.'), provider, options);
          ended.set(outcome, (ended.get(outcome) ?? 0) + 1);
          const billed = sumOf(provider.bills);
          const shown = {
            usd: Math.round(spent.usd * 1e9),
            tokens: spent.usage.inputTokens + spent.usage.outputTokens,
          };
          if (provider.estimates === 0) expect(shown).toEqual({ usd: billed.usd, tokens: billed.tokens });
          else expect(shown.usd).toBeGreaterThanOrEqual(billed.usd);
          expect(spent.estimated === true).toBe(provider.estimates > 0);
          if ('usd' in budget) expect(billed.usd).toBeLessThanOrEqual(Math.round(budget.usd * 1e9));
          if ('tokens' in budget) expect(billed.tokens).toBeLessThanOrEqual(budget.tokens);
          if ('calls' in budget) expect(billed.calls).toBeLessThanOrEqual(budget.calls);
          if (store === undefined) return;
          expect(Math.round(readRun(store, 'r').usd * 1e9)).toBe(shown.usd);
          check(store, provider.bills);
        },
      ),
      { ...OPTIONS, numRuns: OPTIONS.numRuns * 5 },
    );
    expect([...ended.keys()].toSorted()).toEqual(expect.arrayContaining(['out_of_budget', 'succeeded']));
  });

  it.each([
    ['within what was reserved', false],
    ['more than was reserved', true],
  ])(
    'killed at every record, edited and raised: no limit is passed by a token; the server bills %s',
    async (_, excess) => {
      let kills = 0;
      await fc.assert(
        fc.asyncProperty(PARTS, BUDGET, fc.nat(), async (parts, budget, seed) => {
          const provider = randomProvider(`${seed}`, { trouble: true, excess });
          const store = memoryStore();
          await play(planOf(parts, 'You work.'), provider, { inputs: INPUTS, budget, store });
          check(store, provider.bills);
          const random = seededRandom(`${seed} kills`);
          for (const { batches, lines, name } of prefixesOf('r', store.read('r'))) {
            if (random() > (THOROUGH ? 1 : 0.4)) continue;
            const left = storeWith('r', batches, store);
            // Calls of which the start is recorded may have been made; the others were not.
            const made = starts(lines).map(({ key }) => key);
            const before = provider.bills.filter(({ key }) => {
              const at = made.indexOf(key);
              if (at >= 0) made.splice(at, 1);
              return at >= 0;
            });
            const rest = randomProvider(`${seed} ${name}`, { trouble: true, excess });
            const raised = random() < 0.3 ? { budget: '+1-calls' } : {};
            const instructions = random() < 0.4 ? 'You work well.' : 'You work.';
            const options = { store: left, resume: 'r', ...('calls' in budget ? raised : {}) };
            await play(planOf(parts, instructions), rest, options);
            check(left, [...before, ...rest.bills]);
            kills += 1;
          }
        }),
        OPTIONS,
      );
      expect(kills).toBeGreaterThan(OPTIONS.numRuns);
    },
  );
});
