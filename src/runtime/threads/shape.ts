import { SkeinError } from '../../base/errors.js';
import { canonicalHash } from '../../base/hash.js';
import { systemIds } from '../../base/ids.js';
import { madeOnce } from '../../base/collections.js';
import type { JsonObject } from '../../base/json.js';
import type { CompiledPlan } from '../../engine/graph/compile.js';
import type { ShapeRecord } from '../../journal/thread-record.js';
import { traitsOf } from '../../plan/notations.js';
import type { Plan } from '../../plan/plan.js';
import { jsonSchemaOf } from '../../plan/given-schema.js';

type Shape = Omit<ShapeRecord, 't' | 'at'>;

/** The part of a shape by which a workflow is known. */
type Kin = Pick<Shape, 'workflow' | 'steps'>;

const known = new WeakMap<CompiledPlan, Shape>();

/** Returns the shape of a plan's state. A schema without a JSON Schema has another digest in each process, so each checks once. */
export function shapeOfPlan(compiled: CompiledPlan): Shape {
  return madeOnce(known, compiled, () => {
    const { plan, channels } = compiled;
    const own = channels.names.map((name, at): [string, JsonObject] => {
      const definition = channels.reducers[at]?.definition();
      const schema = channels.schemas[at];
      return [name, { ...(definition === undefined ? {} : { reducer: definition }), ...schemaOf(schema) }];
    });
    const said: JsonObject = Object.fromEntries(own);
    const isSaid = channels.schemas.every((schema) => schema === undefined || 'schema' in schemaOf(schema));
    const named = { ...kinOf(plan), channels: said };
    return { ...named, digest: canonicalHash([named, channels.closed, isSaid ? '' : systemIds.next()]).slice(0, 22) };
  });
}

function kinOf({ name, notation, nodes }: Pick<Plan, 'name' | 'notation' | 'nodes'>): Kin {
  return { workflow: name, steps: traitsOf(notation).knownByName === true ? [] : nodes.map(({ id }) => id) };
}

function schemaOf(schema: unknown): { readonly schema?: JsonObject } {
  if (schema === undefined) return {};
  try {
    return { schema: jsonSchemaOf(schema, 'it') };
  } catch {
    return {};
  }
}

/**
 * Refuses a workflow that a thread does not belong to. An edited workflow continues its thread; a different workflow does not.
 *
 * @throws SkeinError `SKEIN_THREAD`
 */
export function checkKinship(id: string, before: Kin, plan: Plan): void {
  const now = kinOf(plan);
  const steps = new Set(before.steps);
  const { unnamed } = traitsOf(plan.notation);
  const isShared = (step: string): boolean => steps.has(step) && unnamed?.test(step) !== true;
  if (before.workflow === now.workflow || now.steps.some(isShared)) return;
  const why =
    now.steps.length === 0 ? `not of '${now.workflow}'` : `which has no step in common with '${now.workflow}'`;
  throw new SkeinError('SKEIN_THREAD', `the thread '${id}' is one of the workflow '${before.workflow}', ${why}`, {
    hint: 'give this conversation a thread of its own',
  });
}
