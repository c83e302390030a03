import { nodePathOf } from '../base/address.js';
import type { Condition } from '../lang/values.js';
import { templateText } from '../lang/condition-text.js';
import { refText } from '../lang/json-path.js';
import { outlinePlan } from '../plan/outline.js';
import type { Plan, PlanNode } from '../plan/plan.js';

export interface NodePlace {
  readonly node: PlanNode;
  readonly dependsOn: readonly string[];
  readonly writers: ReadonlyMap<string, string>;
  /** Level in the outline of the whole plan. A node inside another one has the level of that one. */
  readonly level: number;
}

export type FindPlace = (node: string, parent: string) => NodePlace | undefined;

/** Returns a function that finds nodes by addresses of steps, for any visit, round or item. */
export function placesOf(plan: Plan | undefined): FindPlace {
  const places = new Map<string, NodePlace>();
  if (plan !== undefined) {
    const levels = new Map(outlinePlan(plan).levels.flatMap((ids, level) => ids.map((id) => [id, level])));
    addPlaces(places, '', plan, (id) => levels.get(id) ?? 0);
  }
  return (node, parent) => places.get(parent === '' ? node : `${nodePathOf(parent)}/${node}`);
}

function addPlaces(places: Map<string, NodePlace>, prefix: string, plan: Plan, levelOf: (id: string) => number): void {
  const before = new Map<string, Set<string>>();
  for (const { from, to } of plan.edges) before.set(to, (before.get(to) ?? new Set()).add(from));
  const writers = new Map(
    plan.nodes.flatMap(({ id, output }) => (output === undefined ? [] : [[output, id] as const])),
  );
  for (const node of plan.nodes) {
    const path = `${prefix}${node.id}`;
    const level = levelOf(node.id);
    places.set(path, { node, dependsOn: [...(before.get(node.id) ?? [])], writers, level });
    if ('plan' in node) addPlaces(places, `${path}/`, node.plan, () => level);
  }
}

/** The conditions of a node as records: `{ step: 'scan', contains: 'RUN' }`. Conditions on one value share a record. */
export function describeConditions(place: NodePlace): unknown {
  const records: Record<string, unknown>[] = [];
  for (const condition of place.node.when ?? []) {
    const record = describe(condition, place.writers);
    const same = records.find((other) => fits(other, record));
    if (same === undefined) records.push(record);
    else Object.assign(same, record);
  }
  return records.length <= 1 ? records[0] : records;
}

function fits(other: Record<string, unknown>, record: Record<string, unknown>): boolean {
  if (other['step'] !== record['step'] || other['value'] !== record['value']) return false;
  return Object.keys(record).every((key) => key === 'step' || key === 'value' || !Object.hasOwn(other, key));
}

function describe(condition: Condition, writers: NodePlace['writers']): Record<string, unknown> {
  if (condition.op === 'cel') return { cel: condition.expression };
  if (condition.op === 'code') return { code: true };
  const { channel, path = [] } = condition.value;
  const writer = writers.get(channel);
  const value = writer === undefined || path.length > 0 ? { value: refText(condition.value) } : { step: writer };
  return { ...value, [condition.op]: operandOf(condition) };
}

function operandOf(condition: Exclude<Condition, { op: 'cel' | 'code' }>): unknown {
  if (condition.op === 'truthy') return true;
  if (condition.op === 'line') return condition.line;
  return condition.op === 'matches_json' ? condition.operand : templateText(condition.operand);
}
