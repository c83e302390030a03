import { StateMachine, parseSpec, validatePack } from '../src/machine.js';
import { median, printTable } from './measure.js';

const TRANSITIONS = 100_000;
/** Transitions in a second of processor time. */
const RATE_GOAL = 300_000;
/** How much more the last tenth of the transitions may cost than the second: the machine is warm by then. */
const FLAT_GOAL = 1.2;
/** Bytes that the last half of the transitions may leave on the heap: less than 10 each, for what a history or a snapshot would take more than 100. */
const HEAP_GOAL = 500_000;
const ROUNDS = 7;
const PACK_STATES = 500;
const PACK_BYTES = 60_000;
/** Milliseconds for a pack of {@link PACK_BYTES} to be read and checked. */
const PACK_GOAL = 50;

const SPEC = parseSpec({
  version: 2,
  entry: 'draft',
  engine: { budget: { max_total_visits: 10 * TRANSITIONS, max_tool_calls: 10 * TRANSITIONS } },
  states: {
    draft: {
      prompt_task: 'draft',
      on_event: { Submit: 'review', Abort: 'done' },
      artifacts: { text: { type: 'text/plain' }, log: { type: 'text/plain', mode: 'append' } },
    },
    review: { prompt_task: 'review', on_event: { Reject: 'draft', Again: 'full', Approve: 'done' } },
    full: { prompt_task: 'full', on_event: { Back: 'draft' }, max_visits: 1, on_max_visits: 'draft' },
    done: { prompt_task: 'done', terminal: true },
  },
});

/** Processor time in milliseconds since `before`. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** One transition: from `draft` on with an artifact set, or added to, and a call counted; else back, each second time through a redirect. */
function step(machine: StateMachine, at: number): void {
  if (machine.currentState === 'draft') {
    machine.setArtifact(at % 10 === 0 ? 'log' : 'text', `v${at}`);
    machine.countToolCalls(1);
    machine.processEvent('Submit');
  } else machine.processEvent(machine.currentState === 'full' ? 'Back' : at % 4 === 1 ? 'Again' : 'Reject');
}

interface Figures {
  /** Transitions in a second. */
  readonly rate: number;
  /** Cost of the last tenth by that of the second. */
  readonly growth: number;
  /** Bytes of the heap at the end over those in the middle. */
  readonly heap: number;
}

function heapNow(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function runOnce(withHeap: boolean): Figures {
  if (SPEC === null) throw new Error('there is a spec');
  const machine = new StateMachine(SPEC);
  const tenths: number[] = [];
  let middle = 0;
  for (let tenth = 0; tenth < 10; tenth++) {
    if (tenth === 5 && withHeap) middle = heapNow();
    const before = process.cpuUsage();
    for (let at = 0; at < TRANSITIONS / 10; at++) step(machine, at);
    tenths.push(cpuSince(before));
  }
  const heap = withHeap ? heapNow() - middle : 0;
  const kept = machine.context();
  if (machine.transitionCount !== TRANSITIONS || kept.history.length !== 1_000)
    throw new Error('the machine lost count');
  const total = tenths.reduce((sum, ms) => sum + ms, 0);
  return { rate: (TRANSITIONS / total) * 1_000, growth: (tenths[9] ?? 0) / (tenths[1] ?? 1), heap };
}

/** A pack of so many states in a ring, each with a way out, and texts that fill it up to its size. */
function largePack(): string {
  const prompt = (text: string): object => ({ id: 'p', name: 'P', version: '1.0.0', system_template: text });
  const states = Array.from({ length: PACK_STATES }, (_, at): [string, object] => [
    `s${at}`,
    {
      prompt_task: 'p',
      on_event: { Next: `s${(at + 1) % PACK_STATES}`, Stop: 'end' },
      max_visits: 3,
      on_max_visits: 'end',
    },
  ]);
  const packOf = (text: string): string =>
    JSON.stringify({
      id: 'p',
      name: 'P',
      version: '1.0.0',
      template_engine: { version: 'v1', syntax: '{{variable}}' },
      prompts: { p: prompt(text) },
      workflow: {
        version: 2,
        entry: 's0',
        states: Object.fromEntries([...states, ['end', { prompt_task: 'p', terminal: true }]]),
      },
    });
  return packOf('x'.repeat(Math.max(1, PACK_BYTES - packOf('').length)));
}

/** Milliseconds of a pack, read and checked. */
interface PackTimes {
  /** The first time, when nothing is compiled yet: by the clock, and of all processors, of which half compile beside it. */
  readonly first: number;
  readonly firstOfProcessors: number;
  /** The best of processors. */
  readonly best: number;
}

function packTimes(): PackTimes {
  const pack = largePack();
  const times = Array.from({ length: ROUNDS }, () => {
    const [began, before] = [performance.now(), process.cpuUsage()];
    const problems = validatePack(pack);
    if (problems.length !== 1) throw new Error('the pack of the benchmark has a cycle and nothing else');
    return { clock: performance.now() - began, processors: cpuSince(before) };
  });
  const { clock: first = Number.NaN, processors: firstOfProcessors = Number.NaN } = times[0] ?? {};
  return { first, firstOfProcessors, best: Math.min(...times.map(({ processors }) => processors)) };
}

/** What transitions of the pure machine cost, with histories and artifacts, and the check of a pack. Gives the goals that were missed. */
export function benchMachine(): string[] {
  const pack = packTimes();
  runOnce(false);
  const rounds = Array.from({ length: ROUNDS }, () => runOnce(false));
  const rate = Math.max(...rounds.map((one) => one.rate));
  const growth = median(rounds.map((one) => one.growth));
  const { heap } = runOnce(true);
  const rows = [
    ['transitions in a second', Math.round(rate).toLocaleString('en'), '>= 300,000', rate >= RATE_GOAL],
    ['last tenth of 100,000 by the second', growth.toFixed(2), `<= ${FLAT_GOAL}`, growth <= FLAT_GOAL],
    ['heap left by the last 50,000', `${Math.round(heap / 1_024)} KiB`, `< ${HEAP_GOAL / 1_000} kB`, heap < HEAP_GOAL],
    [
      `pack of ${PACK_BYTES / 1_000} kB and ${PACK_STATES} states read and checked, first time, by the clock (of processors ${pack.firstOfProcessors.toFixed(0)} ms, then ${pack.best.toFixed(0)})`,
      `${pack.first.toFixed(1)} ms`,
      `<= ${PACK_GOAL} ms`,
      pack.first <= PACK_GOAL,
    ],
  ] as const;
  const cells = rows.map(([job, figure, goal, isHeld]) => [job, figure, goal, isHeld ? 'yes' : 'NO']);
  printTable(
    `State machine: ${TRANSITIONS.toLocaleString('en')} transitions with history and artifacts, processor time (best and median of ${ROUNDS})`,
    ['job', 'figure', 'goal', 'held'],
    cells,
  );
  return cells.filter(([, , , held]) => held === 'NO').map(([job, figure, goal]) => `${job}: ${figure}, goal ${goal}`);
}
