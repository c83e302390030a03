import { isPlainObject, ownValue, type Json } from '../base/json.js';
import { schemaFault } from '../lang/schema-check.js';
import { nameOf, type Scope } from './check-scope.js';
import type { ChannelSpec, PlanNode } from './plan.js';

/**
 * Reports `schema-mismatch` if it can be decided before a run: the type of a result, a default or a mapped list conflicts with the reducer
 * or the schema of its channel. Only the top-level `type` of a schema's JSON Schema (Standard JSON Schema) is compared.
 */
export function checkSchemas(scope: Scope): void {
  const { plan, channels, findings } = scope;
  plan.inputs.forEach((input, at) => {
    if (input.default === undefined) return;
    const channel = channels.get(input.channel);
    const allowed = channel && valueTypes(scope, channel);
    if (allowed === undefined || allows(allowed, typeOf(input.default))) return;
    const message = `the default of input ${JSON.stringify(input.name)} is of type ${typeOf(input.default)}, not ${listed(allowed)}`;
    findings.add('schema-mismatch', message, {
      path: `inputs[${at}].default`,
      hint: 'change the default or the channel',
    });
  });
  plan.nodes.forEach((node, at) => {
    const channel = node.output === undefined ? undefined : channels.get(node.output);
    // The types allowed for an update of the channel.
    const allowed = channel && (UPDATE_TYPES.get(channel.reducer) ?? schemaTypes(scope, channel.name));
    const result = allowed && resultTypes(node);
    if (result !== undefined && allowed !== undefined && ![...result].some((type) => allows(allowed, type))) {
      const message = `${nameOf(scope, at)} gives ${listed(result)}, and its channel ${JSON.stringify(node.output)} takes ${listed(allowed)}`;
      findings.add('schema-mismatch', message, {
        node: at,
        path: 'output',
        hint: 'use another channel, or change its reducer or schema',
      });
    }
    if (node.kind !== 'map' || node.over.path !== undefined) return;
    const over = channels.get(node.over.channel);
    const source = over && valueTypes(scope, over);
    if (source === undefined || allows(source, 'array')) return;
    const message = `${nameOf(scope, at)} maps over ${JSON.stringify(node.over.channel)}, which is ${listed(source)}, not a list`;
    findings.add('schema-mismatch', message, { node: at, path: 'over', hint: 'map over a list' });
  });
}

/** What to do about a schema that can't be used. */
export const USABLE = 'a reference leads to a part of the same schema, and bounds are numbers without quotes';

/** Reports a JSON Schema by which no result can be checked: `bad-schema`. Otherwise a model would be asked, in vain, for another answer. */
export function checkJsonSchemas(scope: Scope): void {
  scope.plan.nodes.forEach((node, at) => {
    const { schema, path } = resultSchema(node);
    const fault = schema === undefined ? undefined : schemaFault(schema);
    if (fault === undefined) return;
    const message = `the schema of ${nameOf(scope, at)} can't be used: ${fault}`;
    scope.findings.add('bad-schema', message, { node: at, path, hint: USABLE });
  });
}

/** The schema that the result of a node must match, and its place in the node. */
function resultSchema(node: PlanNode): { readonly schema?: Json | undefined; readonly path: string } {
  switch (node.kind) {
    case 'agent':
      return { schema: node.agent.output?.schema, path: 'agent.output.schema' };
    case 'task':
      return { schema: node.tool?.schema, path: 'tool.schema' };
    case 'ask':
    case 'wait':
      return { schema: node.schema, path: 'schema' };
    case 'call':
    case 'map':
    case 'loop':
    case 'pass':
    case 'set':
    case 'end':
      return { path: '' };
  }
}

type Types = ReadonlySet<string>;

/** Returns the types that a channel's value may have, including its initial value. */
function valueTypes(scope: Scope, channel: ChannelSpec): Types | undefined {
  if (channel.reducer === undefined) return schemaTypes(scope, channel.name);
  return channel.reducer === 'append' ? LIST : UPDATE_TYPES.get(channel.reducer);
}

const LIST: Types = new Set(['array']);
const UPDATE_TYPES: ReadonlyMap<string | undefined, Types> = new Map([
  ['extend', LIST],
  ['mergeDict', new Set(['object'])],
  ['add', new Set(['number', 'string'])],
]);

function schemaTypes(scope: Scope, channel: string): Types | undefined {
  const schema = ownValue(scope.bindings, `${scope.address}schema:${channel}`);
  if (typeof schema !== 'object' || schema === null || !('~standard' in schema)) return undefined;
  const standard = schema['~standard'] as { readonly jsonSchema?: { readonly input?: unknown } } | undefined;
  const toJsonSchema = standard?.jsonSchema?.input;
  if (typeof toJsonSchema !== 'function') return undefined;
  try {
    return typesOf(toJsonSchema.call(standard?.jsonSchema, { target: 'draft-2020-12' }) as Json);
  } catch {
    // A schema without a JSON Schema has no known type.
    return undefined;
  }
}

/** Returns the possible types of a node's whole result; undefined if not known. */
function resultTypes(node: PlanNode): ReadonlySet<string> | undefined {
  switch (node.kind) {
    case 'agent':
      return node.agent.output === undefined ? new Set(['string']) : typesOf(node.agent.output.schema);
    case 'ask':
      return node.schema === undefined ? new Set(['string']) : typesOf(node.schema);
    case 'map':
      return new Set(['array']);
    case 'set':
      return new Set(['object']);
    case 'task':
    case 'call':
    case 'loop':
    case 'wait':
    case 'pass':
    case 'end':
      return undefined;
  }
}

function typesOf(schema: Json | undefined): ReadonlySet<string> | undefined {
  const type = isPlainObject(schema) ? schema['type'] : undefined;
  if (typeof type === 'string') return new Set([type]);
  if (!Array.isArray(type)) return undefined;
  return new Set(type.filter((each): each is string => typeof each === 'string'));
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function allows(allowed: ReadonlySet<string>, type: string): boolean {
  if (allowed.has(type)) return true;
  // Integers are numbers, and a number may happen to be an integer.
  return (type === 'integer' && allowed.has('number')) || (type === 'number' && allowed.has('integer'));
}

function listed(types: ReadonlySet<string>): string {
  return [...types].join(' or ');
}
