import { isPlainObject, ownValue } from '../../base/json.js';
import { madeOnce } from '../../base/collections.js';
import { Budget, SchemaError, type Schema } from './context.js';

/** The versions of JSON Schema whose rules differ here. */
export type Dialect = 'draft-04' | 'draft-07' | '2019-09' | '2020-12';

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isPlainObject(value);
}

/** Keywords that hold a schema or a list of them. */
const HOLDS: ReadonlySet<string> = new Set([
  'additionalItems',
  'unevaluatedItems',
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'prefixItems',
  'allOf',
  'anyOf',
  'oneOf',
]);

/** Keywords that hold a map of schemas. */
const HOLDS_MAP: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
]);

/** Steps for registering a schema. */
const NOTED = 50;

/** The base address of a document without one of its own. */
const HERE = 'https://schema.invalid/';

/** Where the parts of a schema are, and under which names. The same for all values that are checked by it. */
export class SchemaIndex {
  /** Whether a keyword depends on what others have evaluated. */
  tracks = false;
  readonly cost: number;
  /** Every schema in it, with the address of its document. */
  readonly resources = new Map<Readonly<Record<string, unknown>>, string>();
  private readonly known = new Map<string, Schema>();

  /** @throws SchemaError when the schema is too large, nested too deep, or contains itself */
  constructor(
    readonly root: Schema,
    readonly dialect: Dialect,
  ) {
    const budget = new Budget();
    this.known.set(HERE, root);
    this.index(root, HERE, budget);
    this.cost = budget.spent;
  }

  resourceOf(schema: Schema, otherwise: string): string {
    return (typeof schema === 'object' ? this.resources.get(schema) : undefined) ?? otherwise;
  }

  at(address: string): Schema | undefined {
    return this.known.get(address);
  }

  private index(schema: unknown, around: string, budget: Budget): void {
    budget.spend(5);
    if (!isPlainObject(schema) || this.resources.has(schema)) return;
    budget.spend(NOTED);
    budget.enter();
    const resource = this.named(schema, around, budget);
    this.resources.set(schema, resource);
    this.tracks ||= Object.hasOwn(schema, 'unevaluatedItems') || Object.hasOwn(schema, 'unevaluatedProperties');
    for (const key of Object.keys(schema)) {
      const held = schema[key];
      if (HOLDS.has(key)) for (const inner of Array.isArray(held) ? held : [held]) this.index(inner, resource, budget);
      else if (HOLDS_MAP.has(key) && isPlainObject(held))
        for (const inner of Object.values(held)) this.index(inner, resource, budget);
    }
    budget.leave();
  }

  /** Registers the names of a schema and returns the address of its document. */
  private named(schema: Record<string, unknown>, around: string, budget: Budget): string {
    const siblingsCount = this.dialect !== 'draft-04' && this.dialect !== 'draft-07';
    if (!siblingsCount && Object.hasOwn(schema, '$ref')) return around;
    const id = ownValue(schema, this.dialect === 'draft-04' ? 'id' : '$id');
    let resource = around;
    if (typeof id === 'string' && URL.canParse(id, around)) {
      budget.spend(20);
      const url = new URL(id, around);
      if (url.hash.length > 1) this.known.set(url.href, schema);
      else {
        url.hash = '';
        resource = url.href;
        this.known.set(resource, schema);
      }
    }
    for (const key of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownValue(schema, key);
      if (typeof anchor === 'string') this.known.set(`${resource}#${anchor}`, schema);
    }
    return resource;
  }
}

/** Resolves the references of a schema during one check. Nothing is fetched: only the schema itself is searched. */
export class References {
  private readonly found = new Map<string, Schema>();

  constructor(
    private readonly index: SchemaIndex,
    private readonly budget: Budget,
  ) {}

  readonly start = HERE;

  /** @throws SchemaError when it leads nowhere */
  resolve(reference: unknown, from: string): Schema {
    if (typeof reference !== 'string') throw new SchemaError('a reference is not text');
    return madeOnce(this.found, `${from} ${reference}`, () => this.look(reference, from));
  }

  /** Returns the schema that a document marks with `$dynamicAnchor`. */
  dynamicAnchor(resource: string, anchor: string): Schema | undefined {
    const schema = this.index.at(`${resource}#${anchor}`);
    return ownValue(schema, '$dynamicAnchor') === anchor ? schema : undefined;
  }

  private look(reference: string, from: string): Schema {
    this.budget.spend(20);
    if (!URL.canParse(reference, from)) throw new SchemaError(`"${short(reference)}" is not a valid reference`);
    const url = new URL(reference, from);
    const fragment = decoded(url.hash.slice(1));
    url.hash = '';
    const root = this.index.at(url.href);
    const schema =
      fragment === ''
        ? root
        : fragment.startsWith('/')
          ? this.pointed(root, fragment)
          : this.index.at(`${url.href}#${fragment}`);
    if (schema === undefined) throw new SchemaError(`there is no schema at ${short(reference)}`);
    return schema;
  }

  private pointed(root: Schema | undefined, pointer: string): Schema | undefined {
    let place: unknown = root;
    for (const part of pointer.slice(1).split('/')) {
      this.budget.spend(1);
      place = ownValue(place, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    return isSchema(place) ? place : undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
