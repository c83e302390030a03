import { present } from './json.js';

/** Facts about a thrown value that is not an error of Skein's, as plain data. Unknown facts are absent. */
export interface ThrownFacts {
  /** Its `name`, such as `TypeError`; if that is only `Error`, the name of its class. */
  readonly name?: string;
  /** Its classes from its own up to `Error`, without `Error` and without its name. */
  readonly classes?: readonly string[];
  /** Its `code`, or that of its cause: `ECONNRESET`. */
  readonly thrownCode?: string;
  /** Its HTTP status, or that of its cause. */
  readonly status?: number;
  /** Whether another attempt may help; absent if unknown. `false` ends all retries. */
  readonly retryable?: boolean;
}

/** Most causes of causes to examine. */
const DEEPEST_CAUSE = 8;
const MOST_CLASSES = 10;
/** Longest name or code to keep, in characters. */
const LONGEST_WORD = 200;

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Collects the facts about a thrown value, for use when only data is left. Never throws. */
export function factsOf(thrown: unknown): ThrownFacts {
  const classes = classesOf(thrown);
  const name = nameOf(thrown, classes);
  const others = classes.filter((each) => each !== name && each !== 'Error');
  const thrownCode = first(thrown, codeOf);
  const status = first(thrown, statusOf);
  const said = read(thrown, 'retryable');
  const retryable = typeof said === 'boolean' ? said : undefined;
  return present({ name, classes: others.length === 0 ? undefined : others, thrownCode, status, retryable });
}

/** A class that sets no name has the name of the class it extends. */
function nameOf(thrown: unknown, [own]: readonly string[]): string | undefined {
  const name = wordOf(read(thrown, 'name'));
  return name === undefined || (name === 'Error' && own !== undefined) ? (own ?? name) : name;
}

/** Names of its classes, its own first. */
function classesOf(thrown: unknown): readonly string[] {
  const names: string[] = [];
  if (!(thrown instanceof Error)) return names;
  let proto = prototypeOf(thrown);
  for (let at = 0; at < MOST_CLASSES && proto !== null && proto !== Object.prototype; at += 1) {
    const name = wordOf(read(read(proto, 'constructor'), 'name'));
    if (name !== undefined && !names.includes(name)) names.push(name);
    proto = prototypeOf(proto);
  }
  return names;
}

function prototypeOf(value: object): object | null {
  try {
    return Object.getPrototypeOf(value) as object | null;
  } catch {
    return null;
  }
}

/** Returns the first result from an error, its cause, and so on. */
function first<T>(thrown: unknown, ask: (one: unknown) => T | undefined): T | undefined {
  let one = thrown;
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof one === 'object' && one !== null; depth += 1) {
    const found = ask(one);
    if (found !== undefined) return found;
    one = read(one, 'cause');
  }
  return undefined;
}

function codeOf(one: unknown): string | undefined {
  const code = read(one, 'code');
  return typeof code === 'number' ? String(code) : wordOf(code);
}

/** Reads `status`, `statusCode`, or the status of a `response`, as HTTP clients set them. */
function statusOf(one: unknown): number | undefined {
  for (const value of [read(one, 'status'), read(one, 'statusCode'), read(read(one, 'response'), 'status')]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599) return status;
  }
  return undefined;
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_WORD) : undefined;
}

/** Getters of users may throw. */
function read(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}
