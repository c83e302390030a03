import { addTo } from '../../base/collections.js';
import type { Plan, PlanNode } from '../../plan/plan.js';
import { FAILURES } from './progress.js';
import type { RunLog } from './run-log.js';
import type { StepLog } from './step-log.js';

/** One line of the tree of steps. */
export interface Row {
  /** Number of steps that contain this one. */
  readonly depth: number;
  readonly name: string;
  /** Undefined if the step has not begun. */
  readonly step: StepLog | undefined;
}

/** Number of failures shown if not all steps fit. */
const SHOWN_FAILURES = 3;

/** The visible steps of a run. */
export interface Rows {
  readonly rows: readonly Row[];
  /** Present if some steps do not fit, with the number of hidden running ones. */
  readonly more?: { readonly running: number };
}

/** The steps of a run as a tree: its whole plan, or, beyond `most` lines, the running steps and the latest failures. */
export function rowsOf(log: RunLog, most: number): Rows {
  const open = openInside(log);
  const all = new Tree(log, open, most);
  if (all.addPlan(log.plan, '', 0)) return { rows: all.rows };
  const busy = new Tree(log, open, Math.max(most - 1, 0));
  busy.addOpen('', 0);
  const running = log.progress.running - busy.rows.length;
  if (log.progress.failed > 0) busy.addFailed();
  return { rows: busy.rows, more: { running } };
}

/** Running steps, by the path of the step that contains them. */
type Open = ReadonlyMap<string, readonly StepLog[]>;

function openInside(log: RunLog): Open {
  const open = new Map<string, StepLog[]>();
  for (const step of log.running()) addTo(open, step.parent, step);
  return open;
}

/** Collects rows until there are too many. Recursion is safe here: workflows are nested at most 50 deep (see checkPlan). */
class Tree {
  readonly rows: Row[] = [];

  constructor(
    private readonly log: RunLog,
    private readonly open: Open,
    private readonly most: number,
  ) {}

  /** Adds the steps of a plan. Returns whether all fitted. */
  addPlan(plan: Plan, scope: string, depth: number): boolean {
    return plan.nodes.every((node) => {
      if (node.kind === 'pass') return true;
      const step = this.log.at(scope === '' ? node.id : `${scope}/${node.id}`);
      const name = step === undefined ? node.id : step.path.slice(step.path.lastIndexOf('/') + 1);
      if (!this.add({ depth, name, step })) return false;
      return step?.status !== 'running' || this.addInside(step, node, depth + 1);
    });
  }

  /** Adds running steps only. Returns whether all fitted. */
  addOpen(parent: string, depth: number): boolean {
    return (this.open.get(parent) ?? []).every(
      (step) => this.add({ depth, name: nameIn(parent, step.path), step }) && this.addOpen(step.path, depth + 1),
    );
  }

  addFailed(): void {
    const failed = [...this.log.steps.values()]
      .filter(({ status }) => FAILURES.includes(status))
      .slice(-SHOWN_FAILURES);
    for (const step of failed) this.add({ depth: 0, name: step.path, step });
  }

  private addInside(step: StepLog, node: PlanNode, depth: number): boolean {
    if (node.kind === 'call') return this.addPlan(node.plan, step.path, depth);
    if (node.kind === 'map') return this.addOpen(step.path, depth);
    if (node.kind !== 'loop') return true;
    const round = this.log.progress.within(step.path)?.done ?? 0;
    return round === 0 || this.addPlan(node.plan, `${step.path}#${round}`, depth);
  }

  private add(row: Row): boolean {
    if (this.rows.length >= this.most) return false;
    this.rows.push(row);
    return true;
  }
}

/** The name of a step among those inside the same step: `[a.ts]/read` in a map. */
function nameIn(parent: string, path: string): string {
  const name = parent === '' ? path : path.slice(parent.length);
  return name.startsWith('/') ? name.slice(1) : name;
}
