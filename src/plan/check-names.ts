import { FORBIDDEN_NAMES, present } from '../base/json.js';
import { didYouMean } from '../base/suggest.js';
import { nameOf, type Scope } from './check-scope.js';
import type { Writers } from './check-references.js';
import { END, type Plan, type Route } from './plan.js';
import { ownChannels } from './references.js';

const ID = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;
const LONGEST_ID = 200;

/**
 * Names: `no-nodes`, `bad-id`, `duplicate-id`, `bad-channel`, `duplicate-channel`, `written-twice`, `bad-finally`, and `unknown-node` wherever a node is named.
 */
export function checkNames(scope: Scope, { byChannel, inputs }: Writers): void {
  const { plan, findings } = scope;
  if (plan.nodes.length === 0) {
    findings.add('no-nodes', 'a plan needs at least one node', { path: 'nodes', hint: 'add a node' });
  }
  const seen = new Set<string>();
  plan.nodes.forEach((node, at) => {
    const wrong = wrongId(node.id);
    if (wrong !== undefined) {
      const hint = 'use letters, digits, "_", "-" and ".", and not ".", "END" or a name of JavaScript objects';
      findings.add('bad-id', `the id ${nameOf(scope, at)} ${wrong}`, { node: at, path: 'id', hint });
    } else if (seen.has(node.id)) {
      findings.add('duplicate-id', `two nodes have the id ${nameOf(scope, at)}`, {
        node: at,
        path: 'id',
        hint: 'rename one of them',
      });
    }
    seen.add(node.id);
    for (const { name } of repeated(ownChannels(node))) {
      const message = `${nameOf(scope, at)} writes two values to ${JSON.stringify(name)}, of which one would be lost`;
      findings.add('written-twice', message, { node: at, hint: 'give each of them a name of its own' });
    }
  });
  for (const [name, nodes] of byChannel) if (!isChannelName(name)) for (const at of nodes) badChannel(scope, name, at);
  checkChannels(scope, inputs);
  checkTargets(scope);
  checkLast(scope);
}

function wrongId(id: string): string | undefined {
  if (id === '') return 'is empty';
  if (id.length > LONGEST_ID) return `is longer than ${LONGEST_ID} characters`;
  if (id === END) return 'is the name of the end of a branch';
  if (FORBIDDEN_NAMES.has(id)) return 'is a name of JavaScript objects';
  return ID.test(id) ? undefined : 'has characters that an id may not have, or begins with a dot';
}

/** A part of a dotted name that would reach the prototype chain. */
const FORBIDDEN_PART = new RegExp(`(?:^|\\.)(?:${[...FORBIDDEN_NAMES].join('|')})(?:\\.|$)`);

export function isChannelName(name: string): boolean {
  return name !== '' && !FORBIDDEN_PART.test(name);
}

function checkChannel(scope: Scope, name: string): void {
  if (!isChannelName(name)) badChannel(scope, name);
}

function badChannel(scope: Scope, name: string, node?: number): void {
  const options = { hint: 'choose another name', node };
  scope.findings.add('bad-channel', `a channel can't be named ${JSON.stringify(name)}`, options);
}

function checkChannels(scope: Scope, inputs: ReadonlySet<string>): void {
  const { plan, channels, findings } = scope;
  for (const { channel, name } of plan.inputs) {
    checkChannel(scope, channel);
    if (name !== channel) checkChannel(scope, name);
  }
  for (const { name } of plan.channels) checkChannel(scope, name);
  if (inputs.size < plan.inputs.length) {
    const names = plan.inputs.map(({ channel }) => channel);
    for (const { name, at } of repeated(names)) {
      const options = { path: `inputs[${at}].channel`, hint: 'give each input a channel of its own' };
      findings.add('duplicate-channel', `two inputs have the channel ${JSON.stringify(name)}`, options);
    }
  }
  if (channels.size < plan.channels.length) {
    for (const { name, at } of repeated(plan.channels.map((channel) => channel.name))) {
      const options = { path: `channels[${at}].name`, hint: 'declare it once' };
      findings.add('duplicate-channel', `the channel ${JSON.stringify(name)} is declared twice`, options);
    }
  }
}

/** Returns names that occurred before, with their places. */
function repeated(names: readonly string[]): readonly { readonly name: string; readonly at: number }[] {
  const seen = new Set<string>();
  return names.flatMap((name, at) => (seen.size < seen.add(name).size ? [] : [{ name, at }]));
}

function checkTargets(scope: Scope): void {
  const { plan } = scope;
  const known = scope.shape.index;
  const check = (id: string, what: string, path: string, node?: number): void => {
    if (known.has(id)) return;
    const hint =
      id === END
        ? 'a node without a way out ends on its own; only a route answers with END'
        : (didYouMean(id, known.keys()) ?? `nodes are: ${firstOf([...known.keys()])}`);
    const message = `${what} ${nameOf(scope, id)}, which is not a node of the plan`;
    scope.findings.add('unknown-node', message, { path, hint, node });
  };
  if (plan.entry !== undefined) check(plan.entry, 'the entry is', 'entry');
  plan.exits?.forEach((id, at) => check(id, 'an exit is', `exits[${at}]`));
  if (plan.finally !== undefined) check(plan.finally, 'finally runs', 'finally');
  plan.edges.forEach((edge, at) => {
    if (known.has(edge.from) && known.has(edge.to)) return;
    check(edge.from, `an edge to ${nameOf(scope, edge.to)} comes from`, `edges[${at}].from`);
    check(edge.to, `an edge from ${nameOf(scope, edge.from)} leads to`, `edges[${at}].to`);
  });
  plan.routes.forEach((route, at) => {
    check(route.from, 'a route comes from', `routes[${at}].from`);
    for (const { id, path } of namedTargets(route)) {
      if (id !== END) check(id, `the route after ${nameOf(scope, route.from)} leads to`, `routes[${at}].${path}`);
    }
  });
  checkHandlers(plan, check);
}

/** The node that runs after all others has no edges. */
function checkLast(scope: Scope): void {
  const { plan, findings } = scope;
  const { finally: last } = plan;
  if (last === undefined) return;
  const refuse = (what: string, path: string, node?: number): void => {
    const hint = 'take that out: it runs by itself; several steps are a plan inside of it';
    const message = `${nameOf(scope, last)} runs when all others have ended, and ${what}`;
    findings.add('bad-finally', message, { path, hint, ...present({ node }) });
  };
  if (plan.entry === last) refuse('the plan starts with it', 'entry');
  plan.edges.forEach(({ from, to }, at) => {
    if (to === last) refuse(`an edge leads to it from ${nameOf(scope, from)}`, `edges[${at}].to`);
    if (from === last) refuse(`an edge leads from it to ${nameOf(scope, to)}`, `edges[${at}].from`);
  });
  plan.routes.forEach((route, at) => {
    if (route.from === last) refuse('a route chooses after it', `routes[${at}].from`);
    for (const { id, path } of namedTargets(route))
      if (id === last) refuse(`the route after ${nameOf(scope, route.from)} leads to it`, `routes[${at}].${path}`);
  });
  checkHandlers(plan, (to, what, path, node) => {
    if (to === last) refuse(`${what} it`, path, node);
    else if (plan.nodes[node]?.id === last) refuse('another node takes over for it', path, node);
  });
}

function checkHandlers(plan: Plan, check: (id: string, what: string, path: string, node: number) => void): void {
  plan.nodes.forEach((node, at) => {
    const { onError, onMaxVisits } = node;
    if (typeof onError === 'object') check(onError.to, 'a failure is handled by', 'onError.to', at);
    if (typeof onMaxVisits === 'object' && 'to' in onMaxVisits && onMaxVisits.to !== END)
      check(onMaxVisits.to, 'the cap of visits leads to', 'onMaxVisits.to', at);
  });
}

interface NamedTarget {
  readonly id: string;
  readonly path: string;
}

function namedTargets(route: Route): readonly NamedTarget[] {
  return [
    ...listTargets(route.targets, 'targets'),
    ...Object.entries(route.map ?? {}).map(([answer, id]) => ({ id, path: `map.${answer}` })),
    ...(route.cases ?? []).flatMap((branch, at) => listTargets(branch.to, `cases[${at}].to`)),
    ...listTargets(route.otherwise, 'otherwise'),
  ];
}

function listTargets(ids: readonly string[] | undefined, path: string): readonly NamedTarget[] {
  return (ids ?? []).map((id, at) => ({ id, path: `${path}[${at}]` }));
}

function firstOf(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown || 'none';
}
