/** A step as it stands in a file, with an id of its own in the whole file. */
export type Step =
  | { readonly type: 'agent'; readonly id: string; readonly name: string; readonly prompt?: string }
  | {
      readonly type: 'condition';
      readonly id: string;
      readonly condition: string;
      readonly true: readonly Step[];
      readonly false: readonly Step[];
    }
  | { readonly type: 'parallel' | 'sequence'; readonly id: string; readonly steps: readonly Step[] }
  | { readonly type: 'goto'; readonly id: string; readonly goto: string };

/** One call of an agent. */
export interface Call {
  readonly agent: string;
  readonly prompt: string;
  readonly system: string;
}

/** What a run came to. */
export interface Outcome {
  readonly error: string | undefined;
  readonly calls: readonly Call[];
  /** Outputs by path: `par/x`. */
  readonly outputs: ReadonlyMap<string, string>;
}

/** What an agent answers the n-th time, from 1. */
export type Answer = (agent: string, n: number) => string;

/** Why a list ended before its end. */
type Signal = { readonly jump: string } | { readonly error: string } | undefined;

/** A place in nested lists: an index, and for a step in a branch the rest of the way. */
interface Place {
  readonly index: number;
  readonly inside?: { readonly branch: 'true' | 'false'; readonly place: Place };
}

interface Run {
  readonly file: { readonly steps: readonly Step[]; readonly limit: number; readonly system: string };
  readonly answer: Answer;
  readonly calls: Call[];
  readonly times: Map<string, number>;
}

/** What the steps of one list share. */
interface Context {
  readonly run: Run;
  /** Path of the block around. */
  readonly path: string;
  /** Outputs so far, by path. */
  readonly state: Map<string, string>;
  /** How often each jump back was made. */
  readonly jumps: Map<string, number>;
}

/**
 * Runs a pipeline step by step, the slow and obvious way: lists one after the other, branches as lists within, a jump by going up to the list from
 * which its target can be found, and the steps of a parallel block one by one on copies of what came before.
 *
 * @example
 * interpret({ steps, limit: 3, system: '' }, (agent) => `out of ${agent}`).calls;
 */
export function interpret(file: Run['file'], answer: Answer): Outcome {
  const run: Run = { file, answer, calls: [], times: new Map() };
  const state = new Map<string, string>();
  const signal = runList(file.steps, undefined, { run, path: '', state, jumps: new Map() });
  const error = signal !== undefined && 'error' in signal ? signal.error : undefined;
  return { error, calls: run.calls, outputs: state };
}

function runList(list: readonly Step[], from: Place | undefined, context: Context): Signal {
  let inside = from?.inside;
  for (let index = from?.index ?? 0; index < list.length; index += 1) {
    const step = list[index];
    if (step === undefined) break;
    const signal = runStep(step, inside, context);
    inside = undefined;
    if (signal === undefined) continue;
    if ('error' in signal) return signal;
    const place = placeOf(signal.jump, list);
    if (place === undefined) return signal;
    index = place.index - 1;
    inside = place.inside;
  }
  return undefined;
}

function placeOf(id: string, list: readonly Step[]): Place | undefined {
  for (const [index, step] of list.entries()) {
    if (step.id === id) return { index };
    if (step.type !== 'condition') continue;
    for (const branch of ['true', 'false'] as const) {
      const place = placeOf(id, step[branch]);
      if (place !== undefined) return { index, inside: { branch, place } };
    }
  }
  return undefined;
}

function runStep(step: Step, inside: Place['inside'], context: Context): Signal {
  const { run, path, state } = context;
  switch (step.type) {
    case 'agent': {
      const here = path === '' ? step.id : `${path}/${step.id}`;
      const n = (run.times.get(step.name) ?? 0) + 1;
      run.times.set(step.name, n);
      const prompt = priorBlock(run, state) + fill(step.prompt ?? 'Please proceed with the workflow step.', context);
      run.calls.push({ agent: step.name, prompt, system: fill(run.file.system, context) });
      state.set(here, run.answer(step.name, n));
      return undefined;
    }
    case 'condition': {
      if (inside !== undefined) return runList(step[inside.branch], inside.place, context);
      const holds = truth(step.condition, context);
      if (holds === undefined) return { error: `workflow: condition did not resolve to boolean: "${step.condition}"` };
      return runList(holds ? step.true : step.false, undefined, context);
    }
    case 'parallel':
      return runParallel(step, context);
    case 'sequence':
      return runSequence(step, context);
    case 'goto':
      return jump(step, context);
  }
}

function runParallel(step: Extract<Step, { readonly steps: readonly Step[] }>, context: Context): Signal {
  const path = context.path === '' ? step.id : `${context.path}/${step.id}`;
  const before = new Map(context.state);
  for (const child of step.steps) {
    const state = new Map(before);
    const signal = runList([child], undefined, { run: context.run, path, state, jumps: new Map() });
    if (signal !== undefined) return signal;
    for (const [name, value] of state)
      if (before.get(name) !== value || !before.has(name)) context.state.set(name, value);
  }
  return undefined;
}

/** What a sequence gives is there once it has ended. */
function runSequence(step: Extract<Step, { readonly steps: readonly Step[] }>, context: Context): Signal {
  const path = context.path === '' ? step.id : `${context.path}/${step.id}`;
  const state = new Map(context.state);
  const signal = runList(step.steps, undefined, { run: context.run, path, state, jumps: new Map() });
  if (signal === undefined) for (const [name, value] of state) context.state.set(name, value);
  return signal;
}

function jump(step: Extract<Step, { type: 'goto' }>, context: Context): Signal {
  const order = [...walk(context.run.file.steps, '')].map((each) => each.step.id);
  if (order.indexOf(step.goto) > order.indexOf(step.id)) return { jump: step.goto };
  const count = (context.jumps.get(step.id) ?? 0) + 1;
  context.jumps.set(step.id, count);
  const { limit } = context.run.file;
  // A loop inside of this one begins again: its jumps stand between the target and this one.
  for (const inner of order.slice(order.indexOf(step.goto), order.indexOf(step.id))) context.jumps.delete(inner);
  if (count <= limit) return { jump: step.goto };
  return { error: `workflow: max loop iterations exceeded (step: ${step.goto}, limit: ${limit})` };
}

/** All steps in declared order, with their paths. */
export function* walk(steps: readonly Step[], block: string): Generator<{ step: Step; path: string; block: string }> {
  for (const step of steps) {
    const path = block === '' ? step.id : `${block}/${step.id}`;
    yield { step, path, block };
    if (step.type === 'condition') yield* walk([...step.true, ...step.false], block);
    if ('steps' in step) yield* walk(step.steps, path);
  }
}

function priorBlock(run: Run, state: ReadonlyMap<string, string>): string {
  const entries = [...walk(run.file.steps, '')].flatMap(({ step, path }) => {
    const output = state.get(path) ?? '';
    return step.type !== 'agent' || output === '' ? [] : [`[${path} (agent: ${step.name})]:\n${output}\n\n`];
  });
  if (entries.length === 0) return '';
  return `--- Prior Step Outputs ---\n\n${entries.join('')}--- End Prior Step Outputs ---\n\n`;
}

/** `$steps.par.outputs.x.output` as `par/x`. */
function pathOf(address: string): string {
  return address
    .replace('$steps.', '')
    .replace(/\.output(\.ok)?$/, '')
    .replaceAll('.outputs.', '/');
}

function fill(text: string, { state }: Context): string {
  return text.replaceAll(/\{\{ (\$\S+) \}\}/g, (_, address: string) => state.get(pathOf(address)) ?? '');
}

function truth(condition: string, { state }: Context): boolean | undefined {
  const output = state.get(pathOf(condition));
  if (output === undefined) return undefined;
  if (condition.endsWith('.ok') && output.startsWith('{')) {
    const { ok } = JSON.parse(output) as { ok?: unknown };
    return ok === true || ok === 'yes';
  }
  return output === 'true' || output === 'YES';
}
