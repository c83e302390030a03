import { createStyle } from '../src/cli/view/style.js';
import { RunLog } from '../src/cli/view/run-log.js';
import { createView } from '../src/cli/view/view.js';
import type { EventBody } from '../src/events/event.js';
import { definePlan } from '../src/index.js';
import type { Plan } from '../src/index.js';
import { layOut } from '../src/draw/layout.js';
import { drawingOf } from '../src/plan/drawing.js';
import { median, printTable } from './measure.js';

const STEPS = 500;
/** Pieces of text that each step's model writes in a second. */
const PIECES = 10;
const SECONDS = 4;
/** Processor time of the live view, of a core. */
const LIVE_GOAL = 0.03;
const NODES = 200;
const LAYOUT_GOAL = 100;
const MEDIUM: Parameters<typeof layOut>[1] = {
  box: () => ({ width: 160, height: 48 }),
  head: () => ({ x: 8, y: 24 }),
  label: () => ({ width: 40, height: 12 }),
  gaps: { boxes: 32, edges: 16, ranks: 40 },
};

function planOf(count: number, edges: [string, string][] = []): Plan {
  const nodes = Array.from({ length: count }, (_, at) => ({ id: `step-${at}`, run: () => ({}) }));
  const { plan } = definePlan({ name: 'wide', nodes, edges });
  if (plan === undefined) throw new Error('the plan of the benchmark has problems');
  return plan;
}

/** Processor time in milliseconds of `SECONDS` in which 500 steps write, with the live view or without. */
async function cpuOfWriting(plan: Plan, isShown: boolean): Promise<number> {
  const log = new RunLog(plan);
  const screen = { isTTY: true, columns: 120, rows: 40, write: () => true };
  const env = { TERM: 'xterm-256color' };
  const view = createView({
    log,
    style: createStyle(true, true),
    quiet: false,
    verbose: false,
    stream: false,
    screen,
    env,
  });
  let seq = 0;
  const tell = (path: string, body: EventBody): void => {
    const event = { runId: 'r', seq: seq++, at: 0, path, parent: '', ...body };
    if (!isShown) return;
    log.listen(event);
    view.listen(event);
  };
  const ids = plan.nodes.map(({ id }) => id);
  tell('', { type: 'run.started', plan: plan.name, nodes: STEPS });
  for (const id of ids) tell(id, { type: 'step.started', node: id, kind: 'agent', visit: 1 });
  const before = process.cpuUsage();
  const end = performance.now() + SECONDS * 1_000;
  for (let next = performance.now(); next < end; next += 1_000 / PIECES) {
    for (const id of ids) tell(id, { type: 'step.note', note: { kind: 'model.delta', text: 'some words ' } });
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, next + 1_000 / PIECES - performance.now()));
    });
  }
  const { user, system } = process.cpuUsage(before);
  view.stop();
  return (user + system) / 1_000;
}

/** Shapes of 200 nodes: a chain, ranks of which each node leads to two of the next, and edges over up to eight nodes. */
function shapes(): Readonly<Record<string, Plan>> {
  const id = (at: number): string => `step-${at}`;
  const chain = Array.from({ length: NODES - 1 }, (_, at): [string, string] => [id(at), id(at + 1)]);
  const ranks = Array.from({ length: NODES - 10 }, (_, at): [string, string][] => [
    [id(at), id(at + 10)],
    [id(at), id(at - (at % 10) + 10 + ((at + 1) % 10))],
  ]).flat();
  const far = Array.from({ length: NODES - 8 }, (_, at): [string, string][] => [
    [id(at), id(at + 1 + ((at * 7) % 4))],
    [id(at), id(at + 5 + ((at * 5) % 4))],
  ]).flat();
  return {
    'a chain': planOf(NODES, chain),
    '20 ranks of 10': planOf(NODES, ranks),
    'edges over 8 nodes': planOf(NODES, far),
  };
}

function layoutTime(plan: Plan): number {
  const drawing = drawingOf(plan);
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    layOut(drawing, MEDIUM);
    return performance.now() - start;
  });
  return median(times.slice(3));
}

/** What the live view and the pictures of plans cost. Gives the goals that were missed. */
export async function benchScreen(): Promise<string[]> {
  const wide = planOf(STEPS);
  await cpuOfWriting(wide, true);
  const idle = await cpuOfWriting(wide, false);
  const share = Math.max(0, (await cpuOfWriting(wide, true)) - idle) / (SECONDS * 1_000);
  const layouts = Object.entries(shapes()).map(([name, plan]) => [name, layoutTime(plan)] as const);
  const rows = [
    [
      `live view of ${STEPS} running steps that write`,
      `${(share * 100).toFixed(2)}% of a core`,
      '<= 3%',
      share <= LIVE_GOAL ? 'yes' : 'NO',
    ],
    ...layouts.map(([name, ms]) => [
      `layout of ${NODES} nodes, ${name}`,
      `${ms.toFixed(1)} ms`,
      `< ${LAYOUT_GOAL} ms`,
      ms < LAYOUT_GOAL ? 'yes' : 'NO',
    ]),
  ];
  printTable(
    'Screens: processor time of the live view, time of a layout (median of six, warm)',
    ['job', 'figure', 'goal', 'held'],
    rows,
  );
  return rows.filter(([, , , held]) => held === 'NO').map(([job, figure, goal]) => `${job}: ${figure}, goal ${goal}`);
}
