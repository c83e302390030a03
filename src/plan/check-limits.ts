import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';
import { MOST_ROUNDS } from './limits.js';
import type { AskNode, PlanNode } from './plan.js';
import { schemaFindings } from '../lang/schema-check.js';
import type { Template } from '../lang/values.js';

/** Longest timer, in milliseconds: about 24 days. */
const LONGEST_TIMER = 2_147_483_647;

interface Bound {
  readonly value: number | undefined;
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Fractions are allowed. */
  readonly fraction?: boolean;
}

/** Bounds: `unbounded-loop`, `unbounded-map` where there is none, `bad-limit` where it is not a bound, `bad-wait`, `bad-expiry`. */
export function checkLimits(scope: Scope): void {
  const { plan, findings } = scope;
  const planBounds: Bound[] = [
    { value: plan.limits?.maxSteps, name: 'limits.maxSteps', least: 1, most: Number.MAX_SAFE_INTEGER },
    { value: plan.limits?.concurrency, name: 'limits.concurrency', least: 1, most: Number.MAX_SAFE_INTEGER },
  ];
  for (const bound of planBounds) checkBound(scope, bound);
  plan.nodes.forEach((node, at) => {
    for (const bound of boundsOf(node)) checkBound(scope, bound, at);
    checkPresence(scope, node, at);
    if (node.kind === 'agent') {
      checkTemplate(scope, node.agent.instructions, 'agent.instructions', at);
      checkTemplate(scope, node.prompt, 'prompt', at);
    }
    if ('plan' in node) {
      for (const [name, source] of Object.entries(node.inputs ?? {}))
        if ('template' in source) checkTemplate(scope, source.template, `inputs.${name}.template`, at);
    }
    if (node.kind === 'ask') {
      checkTemplate(scope, node.question, 'question', at);
      checkExpiry(scope, node, at);
    }
    if (node.kind === 'wait' && node.ms === undefined && node.until === undefined && node.event === undefined) {
      const hint = 'give ms or until, or the name of an event';
      findings.add('bad-wait', `the node ${nameOf(scope, at)} waits for nothing`, { node: at, hint });
    }
  });
}

function boundsOf(node: PlanNode): readonly Bound[] {
  const { retry } = node;
  const bounds: Bound[] = [
    { value: node.timeoutMs, name: 'timeoutMs', least: 1, most: LONGEST_TIMER, fraction: true },
    { value: node.maxVisits, name: 'maxVisits', least: 1, most: MOST_ROUNDS },
    { value: retry?.retries, name: 'retry.retries', least: 0, most: 1_000 },
    { value: retry?.delayMs, name: 'retry.delayMs', least: 0, most: LONGEST_TIMER, fraction: true },
    { value: retry?.maxDelayMs, name: 'retry.maxDelayMs', least: 0, most: LONGEST_TIMER, fraction: true },
    { value: retry?.jitter, name: 'retry.jitter', least: 0, most: 1, fraction: true },
  ];
  if (typeof node.join === 'object') {
    bounds.push({ value: node.join.quorum, name: 'join.quorum', least: 1, most: MOST_ROUNDS });
  }
  switch (node.kind) {
    case 'agent':
      bounds.push({ value: node.agent.maxTurns, name: 'agent.maxTurns', least: 1, most: 10_000 });
      bounds.push({ value: node.agent.maxToolCalls, name: 'agent.maxToolCalls', least: 0, most: MOST_ROUNDS });
      break;
    case 'map':
      bounds.push({ value: node.maxItems, name: 'maxItems', least: 1, most: MOST_ROUNDS });
      bounds.push({ value: node.concurrency, name: 'concurrency', least: 1, most: Number.MAX_SAFE_INTEGER });
      break;
    case 'loop':
      bounds.push({ value: node.maxRounds, name: 'maxRounds', least: 1, most: MOST_ROUNDS });
      break;
    case 'wait':
      bounds.push({ value: node.ms, name: 'ms', least: 0, most: Number.MAX_SAFE_INTEGER, fraction: true });
      break;
    case 'ask':
      bounds.push({
        value: node.expiresMs,
        name: 'expiresMs',
        least: 1,
        most: Number.MAX_SAFE_INTEGER,
        fraction: true,
      });
      break;
    case 'task':
    case 'call':
    case 'pass':
      break;
  }
  return bounds;
}

function checkBound(scope: Scope, bound: Bound, node?: number): void {
  const { value, name, least, most } = bound;
  if (value === undefined) return;
  const isCount = bound.fraction === true ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (isCount && value >= least && value <= most) return;
  const kind = bound.fraction === true ? 'a number' : 'a whole number';
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  const options = { path: name, hint: `give ${kind} ${range}`, ...(node === undefined ? {} : { node }) };
  scope.findings.add('bad-limit', `${name} is ${value}, not ${kind} ${range}`, options);
}

/** What would run without end must say how often it may run. The types ask for it; plan data may lack it all the same. */
function checkPresence(scope: Scope, node: PlanNode, at: number): void {
  if (node.kind === 'loop' && (node.maxRounds as number | undefined) === undefined) {
    const options = { node: at, path: 'maxRounds', hint: 'give maxRounds' };
    scope.findings.add('unbounded-loop', `the loop ${nameOf(scope, at)} has no bound`, options);
  }
  if (node.kind === 'map' && (node.maxItems as number | undefined) === undefined) {
    const options = { node: at, path: 'maxItems', hint: 'give maxItems' };
    scope.findings.add('unbounded-map', `the map ${nameOf(scope, at)} has no bound`, options);
  }
}

/** What happens when nobody answers in time: only where there is a time, and with an answer that a person could give. */
function checkExpiry(scope: Scope, node: AskNode, at: number): void {
  const { expiresMs, onExpire, choices, schema } = node;
  if (onExpire === undefined) return;
  if (expiresMs === undefined) {
    const message = `the question ${nameOf(scope, at)} says what happens when it expires, but it never expires`;
    scope.findings.add('bad-expiry', message, { node: at, path: 'onExpire', hint: 'give expiresMs' });
  }
  if (onExpire === 'fail') return;
  const asked = schema ?? (choices === undefined ? undefined : { enum: [...choices] });
  const findings = asked === undefined ? [] : schemaFindings(asked, onExpire.answer);
  if (findings.length === 0) return;
  const message = `the answer of ${nameOf(scope, at)} at its expiry does not fit the question: ${findings.join('; ')}`;
  const hint = choices === undefined ? 'give one that matches the schema' : `give one of ${choices.join(', ')}`;
  scope.findings.add('bad-expiry', message, { node: at, path: 'onExpire.answer', hint });
}

function checkTemplate(scope: Scope, template: Template, path: string, node: number): void {
  template.forEach((piece, at) => {
    if (typeof piece === 'string' || !('truncate' in piece) || piece.truncate === undefined) return;
    const name = `${path}[${at}].truncate.limit`;
    checkBound(scope, { value: piece.truncate.limit, name, least: 0, most: Number.MAX_SAFE_INTEGER }, node);
  });
}
