import { seededRandom } from '../../../src/testing/index.js';

/** What a node of a random plan does. */
export interface BodySpec {
  readonly id: string;
  /** Channels that it reads: all of its plan. */
  readonly reads: readonly string[];
  /** Channel name -> how it is written. */
  readonly writes: Readonly<Record<string, WriteKind>>;
  /** Fails on one in this many digests; 0 never, 1 always. */
  readonly failsOneIn: number;
}

/** How a body writes a channel; every kind but `one` depends on what the body saw. */
export type WriteKind = 'digest' | 'entry' | 'entries' | 'number' | 'dict' | 'one';

/** A body as a plain function of the state. */
export type PureBody = (state: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Five base-36 characters that depend on everything in the named channels. */
export function digestOf(state: Readonly<Record<string, unknown>>, names: readonly string[], salt: string): string {
  const seen = names.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]);
  const number = Math.floor(seededRandom(`${salt} ${JSON.stringify(seen, sortedKeys)}`)() * 36 ** 5);
  return number.toString(36).padStart(5, '0');
}

/** A number from a digest, for choices. */
export function numberOf(digest: string): number {
  return Number.parseInt(digest, 36);
}

/** A deterministic body: any difference in what it sees shows in what it writes. */
export function bodyOf(spec: BodySpec): PureBody {
  return (state) => {
    const digest = digestOf(state, spec.reads, spec.id);
    if (spec.failsOneIn > 0 && numberOf(digest) % spec.failsOneIn === 0)
      throw new Error(`${spec.id} failed on ${digest}`);
    return Object.fromEntries(
      Object.entries(spec.writes).map(([name, kind]) => [name, valueOf(kind, spec.id, digest)]),
    );
  };
}

function valueOf(kind: WriteKind, id: string, digest: string): unknown {
  switch (kind) {
    case 'digest':
      return digest;
    case 'entry':
      return `${id}:${digest}`;
    case 'entries':
      return [`${id}<`, digest];
    case 'number':
      return numberOf(digest) % 1000;
    case 'dict':
      return { [id]: digest, latest: id };
    case 'one':
      return 1;
  }
}

/** JSON with object keys in order, so that the order in which a merge put them does not matter. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
