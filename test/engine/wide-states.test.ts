import { describe, expect, it } from 'vitest';
import { plan, run, type State } from './plans.js';

/** More channels than one block of a version holds, so that versions are trees of several levels, and of different heights. */
const CHANNELS = Array.from({ length: 1_100 }, (_, at) => (at % 7 === 3 ? `c${at}:append` : `c${at}`));

/** Writes the channels of a range; those with a reducer get an item. */
const fills = (from: number, to: number, by: string) => () =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, n) => [`c${from + n}`, (from + n) % 7 === 3 ? `${by}${from + n}` : by]),
  );

/** What the steps of a range leave, with what is there already. */
function filled(before: State, from: number, to: number, by: string): State {
  const after: Record<string, unknown> = { ...before };
  for (let at = from; at < to; at++) {
    const had = after[`c${at}`] ?? [];
    after[`c${at}`] = at % 7 === 3 ? [...(had as string[]), `${by}${at}`] : by;
  }
  return after;
}

const BESIDE = {
  nodes: ['go', 'a', 'a2', 'b', 'b2', 'end'],
  edges: ['go>a', 'a>a2', 'go>b', 'b>b2', 'a2>end', 'b2>end'],
};

describe('states of many channels', () => {
  it.each<[what: string, ranges: Readonly<Record<string, readonly [from: number, to: number]>>]>([
    ['of one height', { go: [0, 1_100], a: [0, 300], a2: [100, 150], b: [400, 1_000], b2: [700, 720] }],
    ['of different heights', { go: [0, 5], a: [3, 20], a2: [10, 20], b: [900, 1_000], b2: [990, 1_100] }],
    ['of which one is empty', { go: [0, 0], a: [0, 2], a2: [1, 2], b: [40, 60], b2: [58, 100] }],
  ])('S3: versions %s are merged as if one step after the other had written', async (_, ranges) => {
    const all = Object.entries(ranges);
    const bodies = Object.fromEntries(all.map(([by, [from, to]]) => [by, fills(from, to, by)]));
    const { result } = await run(plan({ ...BESIDE, channels: CHANNELS }), { ...bodies, end: () => ({}) });
    expect(result.outcome).toBe('succeeded');
    expect(result.state).toEqual(all.reduce<State>((before, [by, [from, to]]) => filled(before, from, to, by), {}));
  });

  it('S3: two writes that no order connects are a conflict, wherever the channel is', async () => {
    for (const at of [2, 40, 1_090]) {
      const bindings = {
        go: fills(0, 1_100, 'go'),
        a: fills(0, 1, 'a'),
        a2: fills(at, at + 1, 'a2'),
        b: fills(1_000, 1_010, 'b'),
        b2: fills(at, at + 1, 'b2'),
        end: () => ({}),
      };
      const { result } = await run(plan({ ...BESIDE, channels: CHANNELS }), bindings);
      expect(result.error).toMatchObject({
        code: 'SKEIN_WRITE_CONFLICT',
        message: expect.stringContaining(`'c${at}'`) as string,
      });
    }
  });
});
