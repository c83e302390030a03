import { quoteShort } from '../../lang/value-text.js';
import type { AgentNode, Edge, Route } from '../../plan/plan.js';
import { present } from '../../base/json.js';
import type { Findings } from '../../text/findings.js';
import { describe } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { checkName } from '../../text/names.js';
import type { AnswerDef, StepDef } from './definition.js';
import { ANSWER } from './keys.js';
import { nearestStep, type StepGraph } from './step-graph.js';

/** Reads `choose` of a step. Problem codes: `wrong-type`, `missing-step`, and those of {@link checkName}. */
export function readAnswers(step: Fields, label: string): readonly AnswerDef[] {
  return (step.entries('choose') ?? []).flatMap(({ key: answer, value, at }): readonly AnswerDef[] => {
    const name = `answer ${quoteShort(answer)} of ${label}`;
    if (!checkName(answer, 'answer', at, step.findings)) return [];
    if (value.kind === 'scalar' && value.text.trim() !== '' && value.value !== null)
      return [{ answer, to: value, about: undefined }];
    if (value.kind !== 'map') {
      const message = `${name} must name a step, not ${describe(value)}`;
      step.findings.error('wrong-type', message, value.at, 'write the id of a step');
      return [];
    }
    const fields = readFields(value, { name, form: ANSWER }, step.findings);
    const to = fields?.scalar('step');
    fields?.needs('step', 'missing-step', `${name} leads to no step`, 'add "step: ID"');
    return to === undefined ? [] : [{ answer, to, about: fields?.text('about') }];
  });
}

/** How the choosing steps of a plan are connected to those they choose. */
export interface Choices {
  readonly routes: readonly Route[];
  /** Steps that run only if chosen. */
  readonly chosen: ReadonlySet<string>;
  choiceOf(step: StepDef): AgentNode['choice'];
  without(edges: readonly Edge[]): readonly Edge[];
}

/** Connects choosing steps to the steps they may choose. Problem codes: `unknown-step`, `bad-choice`. */
export function connectChoices(steps: readonly StepDef[], graph: StepGraph, findings: Findings): Choices {
  const by = new Map<string, string>();
  const routes: Route[] = [];
  for (const step of steps.filter(({ choose }) => choose.length > 0)) {
    const targets = step.choose.flatMap(({ to }) => (isTarget(step, to, graph, findings) ? [to.text] : []));
    for (const target of targets) by.set(target, step.id);
    routes.push({ from: step.id, choose: 'result', targets: [...new Set(targets)] });
  }
  return {
    routes,
    chosen: new Set(by.keys()),
    choiceOf({ choose }) {
      if (choose.length === 0) return undefined;
      return {
        answers: Object.fromEntries(choose.map(({ answer, to, about }) => [answer, present({ to: to.text, about })])),
      };
    },
    without: (edges) => edges.filter(({ from, to }) => by.get(to) !== from),
  };
}

/** Whether a step can be chosen. It must depend on the choosing step alone: the end of another dependency would start it, too. */
function isTarget(step: StepDef, to: AnswerDef['to'], graph: StepGraph, findings: Findings): boolean {
  const known = graph.idsBeside(step);
  if (!known.has(to.text)) {
    const message = `${step.label} may choose the step ${quoteShort(to.text)}, which does not exist`;
    findings.error('unknown-step', message, to.at, nearestStep(to.text, known, findings));
    return false;
  }
  const needs = graph.dependsOn(to.text);
  if (needs.length === 1 && needs[0] === step.id) return true;
  const message = `the step ${quoteShort(to.text)} must depend on ${quoteShort(step.id)}, which chooses it, and on no other step`;
  findings.error('bad-choice', message, to.at, `give it "depends_on: [${step.id}]"`);
  return false;
}
