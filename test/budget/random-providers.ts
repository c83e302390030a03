import fc from 'fast-check';
import { definePlan, SkeinError } from 'skein';
import type { Usage } from '../../src/events/event.js';
import type { Model } from '../../src/agent/model.js';
import { pathOf, stepOf } from '../../src/base/address.js';
import { seededRandom } from '../../src/testing/index.js';

/** A call as the provider has it in its books. */
export interface Bill {
  /** Address of the step and the turn, without attempts. */
  readonly key: string;
  readonly usage: Usage;
  /** 0: it was refused. */
  readonly calls: 0 | 1;
}

/** A provider that bills what it likes, and whose calls go wrong at random. */
export interface Provider {
  readonly bills: Bill[];
  readonly providers: { readonly own: (name: string) => Model };
  /** It said nothing of what it counted, or the connection broke: what was reserved stands in. */
  estimates: number;
}

/** `excess`: it bills more than it may. */
export function randomProvider(seed: string, { trouble, excess }: { trouble: boolean; excess: boolean }): Provider {
  const random = seededRandom(seed);
  const below = (most: number): number => Math.floor(random() * (most + 1));
  const provider: Provider = { bills: [], providers: { own: (name) => ({ id: `own/${name}`, stream }) }, estimates: 0 };
  async function* stream({ caller }: Parameters<Model['stream']>[0]): ReturnType<Model['stream']> {
    const [input, output] = excess && random() < 0.3 ? [4_000, 500] : [1_000, 100];
    const usage = { inputTokens: below(input), outputTokens: below(output) };
    const what = trouble ? random() : 1;
    for (let turns = below(3); turns > 0; turns -= 1) await new Promise((next) => setImmediate(next));
    const key = keyOf(`${caller.path}@model#${caller.turn}`);
    const again = { retryable: true };
    if (what < 0.1) {
      provider.bills.push({ key, usage: { inputTokens: 0, outputTokens: 0 }, calls: 0 });
      throw new SkeinError('SKEIN_MODEL_FAILED', 'own/m: come back later', again);
    }
    provider.bills.push({ key, usage, calls: 1 });
    yield { type: 'text', text: `text ${below(9)}` };
    if (what < 0.3) provider.estimates += 1;
    if (what < 0.2) throw new SkeinError('SKEIN_MODEL_FAILED', 'own/m: it broke', again);
    yield { type: 'finish', reason: 'stop', ...(what < 0.3 ? {} : { usage }) } as never;
  }
  return provider;
}

/** A key of an effect without attempts of its steps and tries of the call. */
export function keyOf(key: string): string {
  const step = stepOf(key);
  return pathOf(step) + key.slice(step.length).replace(/\.\d+$/, '');
}

const LIMIT = fc.oneof(
  fc.record({ calls: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ tokens: fc.integer({ min: 1_200, max: 9_000 }) }),
  fc.record({ usd: fc.integer({ min: 2_200, max: 16_000 }).map((micros) => micros / 1e6) }),
);

/** What is tried again, is at once. */
const RETRY = { retries: 2, delayMs: 1, on: 'any' };

/** A part of a workflow, one after the other. */
export interface Part {
  readonly kind: 'agent' | 'map' | 'loop' | 'call' | 'wide';
  readonly count: number;
  readonly concurrency: number;
  readonly policy: object;
  readonly budget: object | null;
}

export const PARTS: fc.Arbitrary<readonly Part[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('agent', 'map', 'loop', 'call', 'wide'),
    count: fc.integer({ min: 1, max: 4 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
    policy: fc.constantFrom({ retry: RETRY }, { retry: RETRY, onError: 'continue' }),
    budget: fc.option(LIMIT, { freq: 2 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Limits of a whole run: few enough to be met, mostly. */
export const BUDGET = fc
  .tuple(LIMIT, LIMIT, fc.constantFrom('pause', 'pause', 'stop'))
  .map(([one, other, onLimit]) => ({ ...one, ...other, onLimit }) as const);

const agent = (id: string, instructions: string, policy: object) => ({
  id,
  kind: 'agent',
  prompt: `Do ${id}.`,
  agent: { instructions, tools: [], settings: { maxOutputTokens: 100 } },
  output: id,
  ...policy,
});

/** The workflow of some parts; other `instructions` are an edit of all of its agents. */
export function planOf(parts: readonly Part[], instructions: string) {
  const nodes: object[] = [];
  const edges: string[][] = [];
  let before: readonly string[] = ['begin'];
  for (const [at, { kind, count, concurrency, policy, budget }] of parts.entries()) {
    const ids = Array.from({ length: count }, (_, one) => `p${at}_${one}`);
    const chain = (sub: readonly string[]) =>
      definePlan({
        name: 'sub',
        inputs: ['item'],
        nodes: sub.map((id) => agent(id, instructions, policy)) as never,
        edges: sub.length > 1 ? [[...sub]] : [],
      });
    const more = { id: `p${at}`, ...(budget === null ? {} : { budget }) };
    const made: Record<Part['kind'], () => readonly object[]> = {
      agent: () => [{ ...agent(more.id, instructions, policy), ...more }],
      wide: () => ids.map((id) => agent(id, instructions, policy)),
      call: () => [{ ...more, kind: 'call', plan: chain(ids) }],
      loop: () => [
        {
          ...more,
          kind: 'loop',
          plan: chain(ids.slice(0, 2)),
          until: () => false,
          maxRounds: 2,
          onMaxRounds: 'continue',
        },
      ],
      map: () => [
        {
          ...more,
          kind: 'map',
          over: { channel: 'items' },
          item: 'item',
          plan: chain(ids.slice(0, 2)),
          maxItems: 9,
          concurrency,
          result: ids.slice(0, 2).at(-1),
          output: `all${at}`,
        },
      ],
    };
    const now = made[kind]();
    nodes.push(...now);
    const named = now.map((node) => (node as { id: string }).id);
    for (const from of before) for (const to of named) edges.push([from, to]);
    before = named;
  }
  return definePlan({
    name: 'random',
    inputs: ['items'],
    nodes: [{ id: 'begin', run: () => ({}) }, ...nodes] as never,
    edges: edges,
  });
}
