import { SkeinError, fromErrorData, toErrorData } from '../../base/errors.js';
import { evaluateConditions } from '../../lang/condition.js';
import { isParentJump } from '../../plan/goto.js';
import { END, type PlanNode, type Route } from '../../plan/plan.js';
import { ownValue } from '../../base/json.js';
import { kindText } from '../../lang/value-text.js';
import type { CompiledRoute, Hop } from './compile.js';
import type { Choice } from './token.js';
import { routeDefinition } from '../durable/identity.js';
import type { Effect, Outcome, Ticket } from '../ports/durable.js';
import type { Identity, StepOptions } from '../ports/recording.js';
import { ReadLog } from '../state/reads.js';
import type { Step } from '../steps/step.js';
import type { Influenced } from '../state/run-labels.js';
import type { Version } from '../state/version.js';

interface Result {
  /** The state after the step. */
  readonly version: Version;
  /** The next nodes chosen by its function. */
  readonly goto?: unknown;
}

/** Evaluates the routes of a node (E3), one after another, then calls `done`. A chooser that fails, fails the step. */
export function chooseRoutes(step: Step, { version, goto }: Result, done: (choice: Choice) => void): void {
  const { routes } = step.compiled;
  const chosen: string[][] = [];
  const around: string[] = [];
  const isSaid = routes.some(({ route }) => route.choose === 'result');
  const ask = (): void => {
    for (let at = chosen.length; at < routes.length; at = chosen.length) {
      const route = routes[at];
      if (route === undefined) break;
      if (route.choose === undefined) {
        chosen.push(
          route.route.choose === 'result' ? byResult(route.route, goto, around) : byCases(route.route, version, step),
        );
        continue;
      }
      const ticket = askCode(step, version, route, at);
      const answer = (outcome: Outcome): void => {
        if (!outcome.ok) throw fromErrorData(outcome.error);
        chosen.push(namesOf(route.route, outcome.value));
      };
      if (ticket.outcome === undefined) {
        const settled = (_ticket: unknown, outcome: Outcome): void =>
          guarded(step, () => {
            answer(outcome);
            ask();
          });
        step.await(ticket, { settled });
        return;
      }
      answer(ticket.outcome);
    }
    if (isSaid) step.decides(step.given);
    if (around.length > 0 && step.owner.parent === '') throw nothingAround(step.compiled.id);
    const choice = collect(step, chosen);
    done(around.length === 0 ? choice : { ...choice, around });
  };
  step.routed = true;
  guarded(step, ask);
}

function guarded(step: Step, body: () => void): void {
  try {
    body();
  } catch (error) {
    if (step.over) throw error;
    step.failForGood(toErrorData(error));
  }
}

function askCode(step: Step, version: Version, route: CompiledRoute, at: number): Ticket {
  const { owner } = step;
  const { durable } = step.run;
  const key = `${step.key}@route${at === 0 ? '' : `#${at + 1}`}`;
  if (!durable.recorded)
    return durable.step(key, { perform: () => route.choose?.(owner.view(version, route.choose, deciding(step))) });
  const chooser = new RecordedChooser(step, version, route);
  return durable.step(key, chooser, chooser);
}

/** The reads of a route decide where its step continues. */
function deciding(step: Step): Influenced {
  return { influenced: (label) => step.decides(label) };
}

/** A chooser whose answer is recorded. */
class RecordedChooser extends ReadLog implements Effect, Identity, StepOptions {
  readonly pure = true;

  private readonly node: PlanNode;

  constructor(
    step: Step,
    version: Version,
    private readonly route: CompiledRoute,
  ) {
    super(version, step.owner, deciding(step));
    this.node = step.compiled.node;
  }

  get identity(): Identity {
    return this;
  }

  perform(): unknown {
    return this.route.choose?.(this.viewFor(this.route.choose));
  }

  digest(): string {
    return routeDefinition(this.route, this.node);
  }
}

/** The targets chosen by the step itself; without a choice, the default of its route. */
function byResult(route: Route, goto: unknown, around: string[]): string[] {
  if (isParentJump(goto)) {
    const { parent: known = [] } = route;
    for (const name of namesOf({ from: route.from, targets: known }, goto.parent)) {
      if (!known.includes(name)) throw badRoute({ from: route.from, targets: known }, name);
      around.push(name);
    }
    return [];
  }
  return goto === undefined ? [...(route.otherwise ?? [])] : namesOf(route, goto);
}

function byCases(route: Route, version: Version, step: Step): string[] {
  const { owner } = step;
  const read = owner.reader(version, deciding(step));
  for (const { when, to } of route.cases ?? [])
    if (evaluateConditions(when, read, undefined, owner.labelled, owner.run).holds) return [...to];
  return [...(route.otherwise ?? [])];
}

/** The node names in a chooser's answer: a name, a list of names, or keys of the route's map. */
function namesOf(route: Route, answer: unknown): string[] {
  const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return answers.map((one) => {
    if (route.map !== undefined) {
      const known = typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean';
      const name = known ? ownValue(route.map, String(one)) : undefined;
      if (typeof name === 'string') return name;
      // The end needs no key of its own.
      if (one === END) return END;
    } else if (typeof one === 'string') return one;
    throw badRoute(route, one);
  });
}

function nothingAround(node: string): SkeinError {
  return new SkeinError('SKEIN_BAD_ROUTE', `'${node}' jumps to its parent, and no workflow is around this one`, {
    hint: 'run it as a node of another workflow: workflowNode(flow, name)',
  });
}

function badRoute(route: Route, answer: unknown): SkeinError {
  const known = route.map === undefined ? (route.targets ?? []) : Object.keys(route.map);
  const text = typeof answer === 'string' ? `'${answer.slice(0, 80)}'` : kindText(answer);
  const hint = known.length === 0 ? 'it must answer the name of a node, or END' : `it may answer ${known.join(', ')}`;
  return new SkeinError('SKEIN_BAD_ROUTE', `the route after '${route.from}' answered ${text}`, { hint });
}

function collect(step: Step, chosen: readonly (readonly string[])[]): Choice {
  const { compiled } = step;
  const hops: Hop[] = [];
  const others: string[] = [];
  chosen.forEach((names, at) => {
    const route = compiled.routes[at];
    for (const name of names.length > 1 ? new Set(names) : names) {
      if (name === END || route === undefined) continue;
      const hop = route.hops.get(name);
      if (hop !== undefined) hops.push(hop);
      else if (route.open) others.push(name);
      else throw badRoute(route.route, name);
    }
  });
  return { hops, others };
}
