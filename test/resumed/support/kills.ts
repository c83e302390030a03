import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { answerRun, memoryStore, readMoments, readRun } from 'skein';
import type { Census, ErrorData, Fork, OpenQuestion, Store } from 'skein';
import { asModelCall } from '../../../src/base/address.js';
import type { JsonObject } from '../../../src/base/json.js';
import { prefixesOf, storeWith, type Prefix } from '../../engine/recorded/in-process.js';
import { THOROUGH } from '../../thorough.js';
import { numberOf } from './drawing.js';
import { valueOf, World } from './world.js';

/** How a session ended. */
export interface SessionEnd {
  readonly runId: string;
  readonly outcome: string;
  readonly questions: readonly OpenQuestion[];
  readonly census: Census;
  readonly error?: ErrorData | undefined;
  /** What the run gave. */
  readonly given: unknown;
}

/** How a session begins. */
export interface Start {
  readonly store: Store;
  readonly runId?: string;
  readonly resume?: string;
  readonly fork?: Fork;
}

/** A program that is run, resumed and forked. */
export interface Program {
  /** One session in one process. `edited`: of a definition that is written in another way and means the same. */
  session(its: World, start: Start, edited: boolean): Promise<SessionEnd>;
  /** The name that an effect has in the world, by the key that it is recorded under; effects that are not counted have none. */
  effectOf(key: string): string | undefined;
  /** Whether each effect has a name of its own. */
  readonly once: boolean;
}

/** A run that has come to its end. */
export interface Ended {
  readonly result: SessionEnd;
  /** What was done in all sessions. */
  readonly done: readonly string[];
  /** What was refused in them. */
  readonly refused: ReadonlySet<string>;
}

/** A process and those that follow it: `order` is the order in which things come to their ends. */
interface Way {
  readonly order: string;
  readonly refused: ReadonlySet<string>;
  readonly edited?: boolean;
}

/** What a person answers follows from the question alone. */
export function answerTo({
  question,
  choices,
  schema,
  name,
}: Omit<OpenQuestion, 'id' | 'key' | 'path' | 'askedAt'>): unknown {
  if (choices?.includes('run it') === true) return 'run it';
  const word = question ?? name;
  if (choices !== undefined && choices.length > 0) return choices[numberOf(word) % choices.length];
  if (JSON.stringify(schema ?? '').includes('approve')) return 'approve';
  return schema === undefined ? `re ${numberOf(word) % 10}` : valueOf(schema as JsonObject, word);
}

/** Runs or goes on until nobody is waited for. The questions of a session are answered all at once, or some of them first. */
export async function toTheEnd(
  program: Program,
  start: Start,
  { order, refused, edited = false }: Way,
): Promise<Ended> {
  const its = new World(order, new Set(refused));
  const { store } = start;
  let result = await program.session(its, start, edited);
  for (let sessions = 1; result.outcome === 'paused' && sessions < 80; sessions += 1) {
    const { questions, runId } = result;
    const some = questions.filter(({ key }, at) => at === 0 || numberOf(`${order} ${key} ${sessions}`) % 2 === 0);
    for (const question of some) answerRun(store, runId, { key: question.key, value: answerTo(question) });
    result = await program.session(its, { store, resume: runId }, edited);
  }
  return { result, done: its.done, refused: its.refused };
}

/** What of an end has to be the same, however often the run was killed. Of several failures beside each other it is no rule which is the first. */
function verdictOf({ result: { outcome, given, error, census } }: Ended): unknown {
  if (outcome === 'failed') return [outcome, error?.code === 'SKEIN_ENDED' ? error.message : undefined];
  return [outcome, given, census];
}

/** Whether something was cut off: what it had come to, and whether it had begun, is no rule. */
const isCut = ({ result }: Ended): boolean => result.census.cancelled > 0 || result.outcome === 'failed';

/** Fails with a text that names the place where two values differ. */
function same(where: string, got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect([where, got]).toEqual([where, wanted]);
}

interface Line {
  readonly t: string;
  readonly key?: string;
  readonly outcome?: string;
  readonly error?: object;
}

const recordsOf = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

/** Calls of models that are recorded as answered, and effects: they are paid for. */
function paidOf(program: Program, lines: readonly string[]): { readonly calls: number; readonly effects: string[] } {
  const done = recordsOf(lines).flatMap(({ t, key, error }) =>
    t === 'done' && error === undefined ? (key ?? []) : [],
  );
  const calls = done.filter((key) => asModelCall(key.slice(key.indexOf('@') + 1)) !== undefined).length;
  return { calls, effects: done.flatMap((key) => program.effectOf(key) ?? []) };
}

const callsOf = (done: readonly string[]): number => done.filter((one) => one.startsWith('model ')).length;
const effectsOf = (done: readonly string[]): string[] => done.filter((one) => one.startsWith('effect '));

/** What `skein show` and `skein logs` say of a record before anybody goes on with it: no damage, and what its lines say. */
function readsWell(
  where: string,
  store: Store,
  { lines, calls }: { readonly lines: readonly string[]; readonly calls: number },
): void {
  const { status, steps, questions, cut, modelCalls, failedModelCalls } = readRun(store, 'r');
  const records = recordsOf(lines);
  const last = records.at(-1);
  const isOver = last?.t === 'end';
  same(`${where}: status`, status, isOver ? last.outcome : 'interrupted');
  same(`${where}: cut`, cut, undefined);
  same(`${where}: shown calls`, modelCalls - failedModelCalls, calls);
  same(`${where}: running`, steps.filter(({ outcome }) => outcome === 'running').length, 0);
  const interrupted = steps.filter(({ outcome }) => outcome === 'interrupted').map(({ path }) => path);
  if (isOver) same(`${where}: interrupted`, interrupted, []);
  const closed = new Set(records.flatMap(({ t, key }) => (t === 'done' ? [key] : [])));
  const open = records.flatMap(({ t, key }) => (t === 'pause' && !closed.has(key) ? (key ?? []) : []));
  // A step that is cut off asks no more.
  const isCutOff = lines.some((line) => line.includes('"outcome":"cancelled"'));
  if (!isCutOff && (!isOver || status === 'paused'))
    same(`${where}: open`, questions.map(({ key }) => key).toSorted(), [...new Set(open)].toSorted());
  readMoments(store, 'r');
}

/** The property: killed after some record and resumed, a run ends as it did, and nothing that is recorded is done again. */
export async function survivesKills(program: Program, seed: string, most = 4): Promise<Ended> {
  const store = memoryStore();
  const whole = await toTheEnd(program, { store, runId: 'r' }, { order: `${seed} first`, refused: new Set() });
  expect(whole.result.outcome).not.toBe('paused');
  const prefixes = prefixesOf('r', store.read('r'));
  const every = THOROUGH ? 1 : Math.ceil(prefixes.length / most);
  const tried = prefixes.filter((_, at) => at % every === numberOf(seed) % every);
  for (const [at, prefix] of tried.entries()) {
    const way = { order: `${seed} ${at}`, refused: whole.refused, edited: at % 3 === 1 };
    await goesOn(program, { whole, store, prefix, way, again: at % 2 === 0 });
  }
  await forks(program, { whole, store, seed });
  return whole;
}

interface Kill {
  readonly whole: Ended;
  readonly store: Store;
  readonly prefix: Prefix;
  readonly way: Way;
  /** Whether the second process is killed, too. */
  readonly again: boolean;
}

async function goesOn(program: Program, { whole, store, prefix, way, again }: Kill): Promise<void> {
  const { name, batches, lines } = prefix;
  const where = `${way.order}, killed after ${name}`;
  const copy = storeWith('r', batches, store);
  if (!name.includes('torn')) readsWell(where, copy, { lines, calls: paidOf(program, lines).calls });
  const next = await toTheEnd(program, { store: copy, resume: 'r' }, way);
  const paid = paidOf(program, lines);
  const cut = isCut(whole) || isCut(next);
  if (whole.result.census.cancelled + next.result.census.cancelled === 0)
    same(where, verdictOf(next), verdictOf(whole));
  // Tools that only read have keys of the same form.
  const known = new Set(effectsOf(whole.done));
  const effects = [...paid.effects.filter((one) => known.has(one)), ...effectsOf(next.done)].toSorted();
  if (effects.some((one, at) => cut && program.once && effects[at + 1] === one))
    throw new Error(`${where}: an effect twice: ${effects.join(', ')}`);
  // What runs at the end of a run runs again when a run that ended degraded is tried again.
  const isTriedAgain = recordsOf(lines).some(({ t, outcome }) => t === 'end' && outcome === 'degraded');
  if (!cut && !isTriedAgain) {
    same(`${where}: calls`, callsOf(next.done) + paid.calls, callsOf(whole.done));
    same(`${where}: effects`, effects, effectsOf(whole.done).toSorted());
  }
  const { status, census } = readRun(copy, 'r');
  same(`${where}: in the end`, [status, census], [next.result.outcome, next.result.census]);
  if (!again) return;
  const later = prefixesOf('r', copy.read('r')).slice(batches.length);
  const second = later[numberOf(way.order) % Math.max(1, later.length)];
  const order = `${way.order} again`;
  if (second !== undefined)
    await goesOn(program, { whole, store: copy, prefix: second, way: { ...way, order }, again: false });
}

interface Parent {
  readonly whole: Ended;
  readonly store: Store;
  readonly seed: string;
}

/** A fork does nothing again; one from a step does again what did not end before that step began. */
async function forks(program: Program, { whole, store, seed }: Parent): Promise<void> {
  if (whole.result.outcome !== 'succeeded' || isCut(whole)) return;
  const lines = store.read('r').flatMap(({ text }) => text.split('\n'));
  const keys = recordsOf(lines).map(({ key }) => (key ?? '').replaceAll(/~\d+/g, ''));
  const steps = readRun(store, 'r')
    .steps.map(({ path }) => path)
    .filter((path) => !/(^|\/)finally/.test(path));
  const from = steps[numberOf(`${seed} fork`) % Math.max(1, steps.length)];
  for (const fork of [{ run: 'r' }, ...(from === undefined ? [] : [{ run: 'r', from }])]) {
    const where = `${seed}, fork from ${'from' in fork ? fork.from : 'its end'}`;
    const next = await toTheEnd(program, { store, fork }, { order: where, refused: whole.refused });
    same(where, verdictOf(next), verdictOf(whole));
    const first = 'from' in fork ? keys.findIndex((key) => key.startsWith(`${fork.from}@`)) : keys.length;
    const before = steps.filter(
      (path) => !keys.slice(first).some((key) => key.startsWith(`${path}@`) || key === path) && path !== from,
    );
    const again = next.done.filter((one) => before.some((path) => one.startsWith(`model ${path} `)));
    if (first >= 0) same(`${where}: done again`, again, []);
  }
}
