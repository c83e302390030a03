import { present } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { checkTreeNames } from './check-names.js';
import { checkReferences } from './references.js';
import { checkModes } from './inherited.js';
import type { GivenValue } from './names.js';
import { LOWERED_HINT } from '../../plan/check-safety.js';
import { lacksScope, lowers, raised, securityText, type Security } from '../../plan/security.js';
import {
  childrenOf,
  partOf,
  TreeFindings,
  within,
  type TreeAgent,
  type TreeConvergence,
  type TreeNode,
  type TreePlace,
  type TreeSequence,
  type TreeStep,
  type TreeWork,
  type TreeWorkflow,
} from './definition.js';

export interface TreeCheckOptions {
  /** Initial values, for a step that runs on its own. `any`: unknown, so references are not checked. */
  readonly given?: readonly GivenValue[] | 'any';
}

/**
 * Returns all problems of a tree whose names and texts are trimmed. Codes: `no-name`, `no-sequence`, `no-steps`, `no-description`,
 * `no-prompt`, `no-task`, `no-scope`, `bad-within`, `duplicate-parameter`, `duplicate-sequence`, `duplicate-name`, `output-conflict`,
 * `shadowed-input`, `unknown-reference`, `human-gate`, `lowered-security`.
 */
export function checkTree(tree: TreeWorkflow, { given = [] }: TreeCheckOptions = {}): readonly Problem[] {
  const findings = new TreeFindings();
  const root = { at: tree.at, path: '' };
  if (tree.name === '') findings.error('no-name', 'workflow: name is required', root);
  checkTreeSecurity(tree, findings);
  checkParameters(tree, findings);
  checkSequences(tree, findings);
  checkTreeNames(tree, given === 'any' ? [] : given, findings);
  if (given !== 'any') checkReferences(tree, given, findings);
  checkModes(tree, findings);
  return findings.problems;
}

function checkParameters({ inputs }: TreeWorkflow, findings: TreeFindings): void {
  const seen = new Set<string>();
  inputs.forEach(({ name, at }, index) => {
    const place = { at, path: `inputs[${index}]` };
    if (name === '') findings.error('no-name', 'workflow: parameter has empty name', place);
    else if (seen.has(name))
      findings.error(
        'duplicate-parameter',
        `parameter ${name}: declared more than once`,
        place,
        'take one of them out',
      );
    seen.add(name);
  });
}

function checkSequences(tree: TreeWorkflow, findings: TreeFindings): void {
  const { sequences } = tree;
  if (sequences.length === 0) {
    const hint = "add(sequence('main').steps(...))";
    findings.error('no-sequence', 'workflow: at least one sequence is required', { at: tree.at, path: '' }, hint);
  }
  const seen = new Set<string>();
  sequences.forEach((sequence, index) => {
    const { name, at } = sequence;
    const place = { at, path: `sequences[${index}]` };
    if (name !== '' && seen.has(name))
      findings.error('duplicate-sequence', `sequence ${name}: declared more than once`, place, 'rename one of them');
    seen.add(name);
    checkSequence(sequence, place, findings);
  });
}

function checkSequence({ name, steps }: TreeSequence, place: TreePlace, findings: TreeFindings): void {
  if (name === '') findings.error('no-name', 'sequence: name is required', place);
  if (steps.length === 0)
    findings.error('no-steps', `sequence ${name}: at least one step is required`, place, "steps(goal('draft', '...'))");
  steps.forEach((step, index) => {
    const own = { at: step.at, path: within(place.path, `steps[${index}]`) };
    if (step.kind === 'agent' && step.task === undefined) {
      const message = `agent ${step.name}: task is required (call .Task() before .Execute())`;
      findings.error('no-task', message, own, "agent(...).task('Review the draft.')");
    }
    checkStep(step, own, findings);
  });
}

function checkStep(step: TreeStep, place: TreePlace, findings: TreeFindings): void {
  const { kind, name } = step;
  if (name === '') findings.error('no-name', `${kind}: name is required`, place);
  if (step.outputs.includes('')) findings.error('no-name', `${kind} ${name}: output has empty name`, place);
  if (step.kind === 'agent') checkAgent(step, place, findings);
  else checkWork(step, place, findings);
}

function checkAgent({ name, prompt }: TreeAgent, place: TreePlace, findings: TreeFindings): void {
  if (prompt !== '') return;
  findings.error('no-prompt', `agent ${name}: prompt is required`, place, 'say who the agent is');
}

function checkWork(
  work: TreeWork & { readonly kind: 'goal' | 'convergence' },
  place: TreePlace,
  findings: TreeFindings,
): void {
  const { kind, name, description, using } = work;
  if (description === '')
    findings.error('no-description', `${kind} ${name}: description is required`, place, 'say what is to be done');
  if (work.kind === 'convergence') checkWithin(work as TreeConvergence, place, findings);
  using.forEach((step, index) => {
    checkStep(step, present({ at: step.at, path: within(place.path, `using[${index}]`) }), findings);
  });
}

function checkWithin(
  { name, within: most, withinVar, cap }: TreeConvergence,
  place: TreePlace,
  findings: TreeFindings,
): void {
  const who = `convergence ${name}`;
  if (withinVar !== undefined && most !== 0) {
    const message = `${who}: 'within' and 'withinVar' are mutually exclusive`;
    findings.error('bad-within', message, place, 'give 0 for within, or leave withinVar out');
  }
  if (withinVar === undefined && !isCap(most))
    findings.error('bad-within', `${who}: 'within' must be > 0`, place, 'a whole number: iterations at most');
  if (cap !== undefined && !isCap(cap))
    findings.error(
      'bad-within',
      `${who}: the cap of withinVar must be > 0`,
      place,
      'a whole number: iterations at most',
    );
}

function isCap(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Checks security: `no-scope` for `research` without a scope, `lowered-security` for a node less careful than the one around it. */
export function checkTreeSecurity(tree: TreeWorkflow, findings: TreeFindings): void {
  const look = (node: TreeNode, around: Security | undefined, place: TreePlace): void => {
    const { security: own } = node;
    if (own !== undefined && lacksScope(own)) {
      const message = `${whoIs(node)}: security.Research requires a non-empty scope (set via .Scope)`;
      findings.error('no-scope', message, place, "security('research').scope('auth-token-handling')");
    }
    if (own !== undefined && around !== undefined && lowers(own, around)) {
      const message = `${whoIs(node)}: it has the security ${securityText(own)} where ${securityText(around)} holds`;
      findings.error('lowered-security', message, place, LOWERED_HINT);
    }
    const held = raised(around, own);
    for (const [at, child] of childrenOf(node).entries())
      look(child, held, { at: child.at, path: within(place.path, partOf(node, at)) });
  };
  look(tree, undefined, { at: tree.at, path: '' });
}

function whoIs(node: TreeNode): string {
  return node.kind === 'workflow' ? 'workflow' : `${node.kind} ${node.name}`;
}
