import { supervisor } from 'skein';
import { agent, convergence, goal, sequence, workflow } from 'skein/tree';
import type { Agent, Convergence, Goal, Runtime, Sequence, Workflow } from 'skein/tree';
import { Drawing } from './drawing.js';
import { toolsOf } from './tools.js';
import type { World } from './world.js';

type Judge = 'model' | 'person' | 'nobody' | undefined;

/** A part of a tree as data, so that each process builds the same. */
interface Part {
  readonly kind: 'goal' | 'convergence' | 'agent';
  readonly name: string;
  readonly text: string;
  readonly within: number;
  readonly using: readonly Part[];
  readonly fields: readonly string[];
  readonly strict: boolean;
  readonly judged: Judge;
  readonly isEndorsed: boolean;
  readonly budget: string | undefined;
  readonly tools: readonly ('one' | 'look' | 'ask')[] | undefined;
  readonly context: string | undefined;
}

export interface TreeData {
  readonly sequences: readonly { readonly name: string; readonly judged: Judge; readonly steps: readonly Part[] }[];
  readonly judged: Judge;
  readonly budget: string | undefined;
}

const TOOLS: readonly (readonly ('one' | 'look' | 'ask')[])[] = [[], ['one'], ['one', 'look'], ['look', 'ask']];

/** Draws a tree: sequences of goals, convergences and agents, judged or not. */
export class TreeDrawing extends Drawing {
  private readonly earlier: string[] = ['who'];

  tree(): TreeData {
    const judged = this.judge(0.15, undefined);
    const sequences = this.list(1, 2, () => {
      const own = this.judge(0.1, judged);
      return { name: this.id('q'), judged: own, steps: this.list(1, 3, () => this.step(0, own ?? judged)) };
    });
    return { sequences, judged, budget: this.chance(0.15) ? '900-calls' : undefined };
  }

  /** Nothing removes a person who judges what is around. */
  private judge(p: number, around: Judge): Judge {
    if (!this.chance(p)) return undefined;
    return around === 'person' ? 'person' : this.pick('model', 'person', 'nobody');
  }

  private step(depth: number, around: Judge): Part {
    const kind = this.pick('goal', 'goal', 'convergence', depth === 0 ? 'agent' : 'goal');
    const name = this.id('s');
    const word = this.pick('', '', '', '', '', ', busy', ', busy', this.chance(0.3) ? ', broken' : '');
    const from = this.chance(0.7) ? ` From $${this.oneOf(this.earlier) ?? 'who'}.` : '';
    const judged = kind === 'agent' ? undefined : this.judge(0.2, around);
    const part: Part = {
      kind,
      name,
      text: `Do it${word}.${from}`,
      within: 1 + this.nat(3),
      using: kind !== 'agent' && this.chance(0.5) ? this.list(1, 3, () => this.inner(depth, judged ?? around)) : [],
      fields: this.chance(0.3) ? [`${name}f`, `${name}g`] : [],
      strict: this.chance(0.1),
      judged,
      isEndorsed: this.chance(0.1),
      budget: kind !== 'agent' && this.chance(0.1) ? '200-calls' : undefined,
      ...this.equipment(),
    };
    if (depth === 0) this.earlier.push(name);
    return part;
  }

  private inner(depth: number, around: Judge): Part {
    if (depth < 2 && this.chance(0.35)) return this.step(depth + 1, around);
    const name = this.id('a');
    const none = { within: 0, using: [], strict: false, judged: undefined, isEndorsed: false, budget: undefined };
    const fields = this.chance(0.2) ? [`${name}f`] : [];
    return { ...none, kind: 'agent', name, text: `You are ${name}.`, fields, ...this.equipment() };
  }

  private equipment(): Pick<Part, 'tools' | 'context'> {
    return {
      tools: this.chance(0.3) ? this.oneOf(TOOLS) : undefined,
      context: this.chance(0.1) ? `Mind ${this.id('it')}.` : undefined,
    };
  }
}

/** The tree of a process. */
export function treeOf(data: TreeData, its: World): Workflow {
  const flow = workflow('flow').input('who');
  for (const { name, steps, judged } of data.sequences) {
    const built = sequence(name).steps(...steps.map((part) => partOf(part, its, true)));
    judge(built, judged);
    flow.add(built);
  }
  judge(flow, data.judged);
  return data.budget === undefined ? flow : flow.budget(data.budget);
}

export const runtimeOf = (): Runtime => ({ model: 'own/m', supervisor: supervisor({ model: 'own/m' }) });

function partOf(part: Part, its: World, isOutermost: boolean): Goal | Convergence | Agent {
  const { kind, name, text, within, using, fields, strict, judged, isEndorsed, budget, tools, context } = part;
  const inner = using.map((one) => partOf(one, its, false));
  const all = toolsOf(its);
  if (kind === 'agent') {
    const one = isOutermost ? agent(name, `You are ${name}.`).task(text) : agent(name, text);
    if (isEndorsed) one.endorse('person');
    return equipped(
      fields.length === 0 ? one : one.withOutputs(...fields),
      tools?.map((each) => all[each]),
      context,
    );
  }
  const one = kind === 'goal' ? goal(name, text) : convergence(name, text, within);
  if (inner.length > 0) one.using(...inner);
  judge(one, judged);
  if (isEndorsed) one.endorse('person');
  if (budget !== undefined) one.budget(budget);
  if (fields.length > 0) one.withOutputs(...fields, { strict });
  return equipped(
    one,
    tools?.map((each) => all[each]),
    context,
  );
}

function equipped<T extends Goal | Convergence | Agent>(
  part: T,
  tools: readonly object[] | undefined,
  context: string | undefined,
): T {
  if (tools === undefined && context === undefined) return part;
  const change = {
    ...(tools === undefined ? {} : { tools }),
    ...(context === undefined ? {} : { systemContext: context }),
  };
  part.customize(change as Parameters<Goal['customize']>[0]);
  return part;
}

function judge(part: Workflow | Sequence | Goal | Convergence, by: Judge): void {
  if (by === 'model') part.supervise();
  if (by === 'person') part.superviseByHuman();
  if (by === 'nobody') part.unsupervised();
}
