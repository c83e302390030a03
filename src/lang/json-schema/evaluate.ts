import { ownValue } from '../../base/json.js';
import { madeOnce } from '../../base/collections.js';
import { PatternError, patternMatcher, type PatternMatcher } from '../pattern/matcher.js';
import { CHOICE_KEYWORDS, takeOver } from './choices.js';
import {
  Budget,
  SchemaError,
  shown,
  wrong,
  type Evaluation,
  type Findings,
  type Keyword,
  type Schema,
  type Seen,
  type Spot,
} from './context.js';
import { valueKey, VALUE_KEYWORDS } from './values.js';
import { PART_KEYWORDS, REST_KEYWORDS } from './parts.js';
import { References, isSchema, type SchemaIndex } from './references.js';

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([...VALUE_KEYWORDS, ...PART_KEYWORDS, ...CHOICE_KEYWORDS]);

/** Number of steps of a pattern that cost as much as one of a schema. */
const STEPS_OF_PATTERNS = 2;
const NO_PART: Partial<Spot> = {};

/** Checks one value by a schema. The cost is bounded. The schema is interpreted, never compiled, and no other is fetched. */
export class Evaluator implements Evaluation {
  readonly budget = new Budget();
  private readonly references: References;
  private readonly patterns = new Map<string, PatternMatcher>();
  private readonly known = new Map<readonly unknown[], ReadonlySet<string>>();
  /** In older drafts, a reference makes other keywords void. */
  private readonly onlyReference: boolean;

  /** @throws SchemaError if the schema is too large */
  constructor(private readonly index: SchemaIndex) {
    const { dialect, cost } = index;
    this.references = new References(index, this.budget);
    this.onlyReference = dialect === 'draft-04' || dialect === 'draft-07';
    // Counted for each value, so that a verdict does not depend on the checks before it.
    this.budget.spend(cost);
  }

  /**
   * Returns the problems of the value, at most ten lines.
   *
   * @throws SchemaError if the schema can't be used, or costs too much
   */
  run(value: unknown): readonly string[] {
    const findings: Findings = { lines: new Set() };
    const seen = this.nothingSeen();
    const first = { schema: {}, value, at: '', seen, findings, documents: [this.references.start] };
    const ok = this.check(this.index.root, first);
    return ok || findings.lines.size > 0 ? [...findings.lines] : ['/: does not fit'];
  }

  check(schema: unknown, around: Spot, part: Partial<Spot> = NO_PART): boolean {
    this.budget.spend(5);
    if (!isSchema(schema)) throw new SchemaError(`${shown(schema)} stands where a schema should be`);
    const findings = 'findings' in part ? part.findings : around.findings;
    const at = part.at ?? around.at;
    if (typeof schema === 'boolean') return schema || wrong({ at, findings }, 'must not be there');
    this.budget.enter();
    const isNew = 'seen' in part && part.seen === undefined;
    const ok = this.keywords(schema, {
      schema,
      value: 'value' in part ? part.value : around.value,
      at,
      seen: isNew ? this.nothingSeen() : (part.seen ?? around.seen),
      findings,
      documents: this.documentsOf(schema, around.documents),
    });
    this.budget.leave();
    return ok;
  }

  /** The documents around a schema; it may begin a new one. */
  private documentsOf(schema: Schema, around: readonly string[]): readonly string[] {
    const here = around.at(-1) ?? this.references.start;
    const document = this.index.resourceOf(schema, here);
    if (document === here) return around;
    this.budget.spend(around.length);
    return [...around, document];
  }

  private nothingSeen(): Seen | undefined {
    return this.index.tracks ? { properties: new Set(), items: new Set() } : undefined;
  }

  private keywords(schema: Readonly<Record<string, unknown>>, spot: Spot): boolean {
    if (this.onlyReference && Object.hasOwn(schema, '$ref')) return this.check(this.target('$ref', spot), spot);
    const rest = this.index.tracks ? REST_KEYWORDS.filter(([name]) => Object.hasOwn(schema, name)) : [];
    if (rest.length === 0) return this.each(schema, spot);
    // A schema does not see what its siblings evaluated.
    const seen = this.nothingSeen();
    const own = { ...spot, seen };
    const ok = this.each(schema, own) && rest.every(([name, keyword]) => keyword(this, schema[name], own));
    if (ok && seen !== undefined) takeOver(this, spot, seen);
    return ok;
  }

  private each(schema: Readonly<Record<string, unknown>>, spot: Spot): boolean {
    const names = Object.keys(schema);
    this.budget.spend(names.length);
    let ok = true;
    for (const name of names) {
      if (KEYWORDS.get(name)?.(this, schema[name], spot) !== false) continue;
      ok = false;
      // If no findings are wanted, the first failure is enough.
      if (spot.findings === undefined) return false;
    }
    return ok;
  }

  finds(pattern: string, text: string): boolean {
    const matcher = this.pattern(pattern);
    const before = matcher.cost;
    const found = matcher.test(text, STEPS_OF_PATTERNS * this.budget.left);
    this.budget.spend(1 + (matcher.cost - before) / STEPS_OF_PATTERNS);
    return found;
  }

  pattern(source: string): PatternMatcher {
    return madeOnce(this.patterns, source, () => {
      this.budget.spend(source.length);
      try {
        return patternMatcher(source);
      } catch (error) {
        if (error instanceof PatternError) throw new SchemaError(`the pattern ${shown(source)}: ${error.message}`);
        throw error;
      }
    });
  }

  target(keyword: '$ref' | '$dynamicRef' | '$recursiveRef', { schema, documents }: Spot): Schema {
    const { references } = this;
    const reference = ownValue(schema, keyword);
    const found = references.resolve(reference, documents.at(-1) ?? references.start);
    if (keyword === '$ref') return found;
    this.budget.spend(documents.length);
    if (keyword === '$recursiveRef') {
      if (ownValue(found, '$recursiveAnchor') !== true) return found;
      const outer = documents.map((document) => references.resolve('#', document));
      return outer.find((root) => ownValue(root, '$recursiveAnchor') === true) ?? found;
    }
    const anchor = ownValue(found, '$dynamicAnchor');
    if (typeof anchor !== 'string' || !String(reference).endsWith(`#${anchor}`)) return found;
    const marked = documents.map((document) => references.dynamicAnchor(document, anchor));
    return marked.find((outer) => outer !== undefined) ?? found;
  }

  keys(values: readonly unknown[]): ReadonlySet<string> {
    return madeOnce(this.known, values, () => new Set(values.map((value) => valueKey(value, this.budget))));
  }
}
