import fc from 'fast-check';

class Mine {
  readonly inside = 1;
}

const cycle: { again?: unknown } = {};
cycle.again = cycle;

const revoked = Proxy.revocable({}, {});
revoked.revoke();

function fail(): never {
  throw new Error('by code of the program');
}

/** What code without types hands over. Behind functions: not even a generator of values can look at each. */
const ODD: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'half a surrogate pair': () => '\ud800',
  'a NUL': () => 'a\0b',
  'marks of addresses': () => 'a\nb/c@d[e]#1~2',
  'the name of a prototype': () => '__proto__',
  'a long text': () => 'x'.repeat(100_000),
  true: () => true,
  'minus one': () => -1,
  'minus zero': () => -0,
  half: () => 0.5,
  'not a number': () => Number.NaN,
  'without end': () => Number.POSITIVE_INFINITY,
  'the largest number': () => Number.MAX_VALUE,
  'more than a time': () => 1e17,
  'a bigint': () => 7n,
  'a symbol': () => Symbol('odd'),
  'a function': () => fail,
  'a list of nothing': () => [undefined],
  'an object without prototype': () => Object.assign(Object.create(null) as object, { text: 'a' }),
  'an heir of one without prototype': () => Object.create(Object.create(null) as object) as unknown,
  'keys that reach prototypes': () => JSON.parse('{"__proto__":{"x":1},"constructor":2,"text":"a"}') as unknown,
  'a bigint inside': () => ({ text: 'a', code: 7n }),
  'a cycle': () => cycle,
  'an instance': () => new Mine(),
  'a date': () => new Date(0),
  'no date': () => new Date(Number.NaN),
  'a map': () => new Map([['a', 1]]),
  'an odd error': () => Object.assign(new Error('odd'), { code: { a: 7n }, status: Number.NaN, cause: cycle }),
  'a getter that throws': () => Object.defineProperty({}, 'text', { get: fail, enumerable: true }),
  'a toJSON that throws': () => ({ toJSON: fail }),
  'no text of it': () => ({ toString: fail, [Symbol.toPrimitive]: fail }),
  'a proxy that was taken back': () => revoked.proxy,
};

/** A value with what it is. */
export type Odd = readonly [what: string, value: () => unknown];

const odd = fc.constantFrom(...Object.entries(ODD));

/** Any such value, alone or inside of others. */
export const oddValue: fc.Arbitrary<Odd> = fc.oneof(
  { weight: 4, arbitrary: odd },
  { weight: 1, arbitrary: odd.map(([what, value]): Odd => [`a list of ${what}`, () => [value(), value()]]) },
  {
    weight: 1,
    arbitrary: odd.map(([what, value]): Odd => {
      return [`fields of ${what}`, () => ({ text: value(), code: value(), status: value() })];
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
      .map((value): Odd => [fc.stringify(value), () => value]),
  },
);
