import { isPlainObject } from '../../base/json.js';
import { kindText } from '../value-text.js';
import { PatternError, patternMatcher } from '../pattern/matcher.js';
import { Budget, SchemaError, shown, type Schema } from './context.js';
import { References, type SchemaIndex } from './references.js';

/** Keywords whose value is a number. */
const BOUNDS = ['Length', 'Items', 'Properties', 'Contains']
  .flatMap((of) => [`min${of}`, `max${of}`])
  .concat('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf');

/**
 * Why a schema can't be used, whatever the value: a reference that leads nowhere, a pattern that can't be read, a bound that is not a number,
 * which would hold for every value. Undefined if it can be used.
 *
 * @throws SchemaError if there are too many references
 */
export function faultOf(index: SchemaIndex): string | undefined {
  const references = new References(index, new Budget());
  for (const [schema, resource] of index.resources) {
    const fault = referenceFault(schema, resource, references) ?? boundFault(schema) ?? patternsFault(schema);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

type Keywords = Exclude<Schema, boolean>;

function referenceFault(schema: Keywords, resource: string, references: References): string | undefined {
  if (!Object.hasOwn(schema, '$ref')) return undefined;
  try {
    references.resolve(schema['$ref'], resource);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

function boundFault(schema: Keywords): string | undefined {
  for (const name of BOUNDS) {
    const bound = Object.hasOwn(schema, name) ? schema[name] : undefined;
    // In older drafts, true and false say whether the bound itself is allowed.
    if (bound === undefined || (name.startsWith('exclusive') && typeof bound === 'boolean')) continue;
    if (typeof bound !== 'number') return `${name} must be a number, not ${kindText(bound)}`;
    if (name === 'multipleOf' && bound <= 0) return `multipleOf must be above 0, not ${bound}`;
  }
  return undefined;
}

function patternsFault(schema: Keywords): string | undefined {
  const patterns = isPlainObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : [];
  if (Object.hasOwn(schema, 'pattern')) {
    if (typeof schema['pattern'] !== 'string') return `pattern must be text, not ${kindText(schema['pattern'])}`;
    patterns.push(schema['pattern']);
  }
  for (const pattern of patterns) {
    try {
      patternMatcher(pattern);
    } catch (error) {
      if (error instanceof PatternError) return `the pattern ${shown(pattern)}: ${error.message}`;
      throw error;
    }
  }
  return undefined;
}
