import { DataPlace } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from './findings.js';
import type {
  DividedForm,
  EitherForm,
  Form,
  IntegerForm,
  ListForm,
  MapForm,
  NamesForm,
  NumberForm,
  TextForm,
  VariantsForm,
} from './forms.js';
import { describe, type SourceEntry, type SourceMap, type SourceNode, type SourceScalar } from './nodes.js';

/**
 * Checks data strictly against a form: no unknown keys, no values of another type, null only where the form sets `blank`. An open map
 * accepts any key; a key similar to a known one is a warning.
 *
 * Problem codes: `wrong-form`, `unknown-key`, `missing-key`.
 */
export function checkForm(
  node: SourceNode,
  form: Form,
  context: { readonly findings: Findings; readonly named: Readonly<Record<string, Form>> },
): void {
  new FormCheck(context.findings, context.named).check(node, form, new DataPlace(''));
}

class FormCheck {
  constructor(
    private readonly findings: Findings,
    private readonly named: Readonly<Record<string, Form>>,
  ) {}

  check(node: SourceNode, form: Form, place: DataPlace): void {
    switch (form.kind) {
      case 'any':
        return;
      case 'named':
        return this.check(node, this.named[form.name] ?? { kind: 'any' }, place);
      case 'text':
        return this.checkText(node, form, place);
      case 'word':
        if (!form.words.includes(valueOf(node) as string)) this.wrong(node, place, `one of ${listed(form.words)}`);
        return;
      case 'integer':
      case 'number':
        return this.checkNumber(node, form, place);
      case 'flag':
        if (typeof valueOf(node) !== 'boolean') this.wrong(node, place, 'true or false');
        return;
      case 'list':
        return this.checkList(node, form, place);
      case 'names':
        return this.checkNames(node, form, place);
      case 'map':
        return this.checkMap(node, form, place);
      case 'variants':
        return this.checkVariants(node, form, place);
      case 'either':
        return this.checkEither(node, form, place);
      case 'divided':
        return this.check(node, partOf(form, node), place);
    }
  }

  private checkText(node: SourceNode, { longest, blank, pattern }: TextForm, place: DataPlace): void {
    const value = valueOf(node);
    if (typeof value !== 'string') this.wrong(node, place, 'a text');
    else if (value.length > (longest ?? Infinity)) this.wrong(node, place, `at most ${longest} characters long`);
    else if (blank === false && value === '') this.wrong(node, place, 'a text that is not empty');
    else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
      this.wrong(node, place, `a text of the form ${pattern}`);
    }
  }

  private checkNumber(
    node: SourceNode,
    { kind, min = -Infinity, max }: IntegerForm | NumberForm,
    place: DataPlace,
  ): void {
    const value = valueOf(node);
    const isWhole = kind === 'integer';
    if (typeof value !== 'number' || (isWhole && !Number.isSafeInteger(value))) {
      this.wrong(node, place, isWhole ? 'a whole number' : 'a number');
    } else if (value < min || value > max) {
      this.wrong(node, place, max >= Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`);
    }
  }

  private checkList(node: SourceNode, { items, min = 0, max = Infinity }: ListForm, place: DataPlace): void {
    if (node.kind !== 'list') return this.wrong(node, place, 'a list');
    if (node.items.length < min) this.wrong(node, place, `a list of at least ${min}`);
    if (node.items.length > max) this.wrong(node, place, `a list of at most ${max}`);
    for (const [at, item] of node.items.entries()) this.check(item, items, place.item(at));
  }

  private checkNames(node: SourceNode, form: NamesForm, place: DataPlace): void {
    if (node.kind !== 'map') return this.wrong(node, place, 'an object');
    if (node.entries.length < (form.min ?? 0)) this.wrong(node, place, `an object with at least ${form.min} entry`);
    for (const { key, value } of node.entries) this.check(value, form.values, place.named(key));
  }

  private checkMap(node: SourceNode, form: MapForm, place: DataPlace): void {
    if (node.kind !== 'map') return this.wrong(node, place, 'an object');
    const keys = Object.keys(form.keys);
    for (const entry of node.entries) {
      const row = Object.hasOwn(form.keys, entry.key) ? form.keys[entry.key] : undefined;
      if (row === undefined) this.unknown(entry, keys, form.open === true, place);
      else if (row.blank !== true || valueOf(entry.value) !== null)
        this.check(entry.value, row, place.field(entry.key));
    }
    for (const key of keys) {
      if (form.keys[key]?.needed === true && !has(node, key)) this.missing(node, place.field(key));
    }
    this.checkGroups(node, form, place);
  }

  /** Checks that exactly one key of `one`, and at least one of `some`, is present. */
  private checkGroups(node: SourceMap, { one, some }: MapForm, place: DataPlace): void {
    const given = one?.filter((key) => has(node, key)) ?? [];
    if (one !== undefined && given.length !== 1) {
      const seen = given.length === 0 ? 'none of them' : given.join(' and ');
      this.wrong(node, place, `an object with exactly one of: ${one.join(', ')}`, seen);
    }
    const texts = some?.filter((key) => typeof key === 'string') ?? [];
    if (texts.length > 0 && !texts.some((key) => has(node, key))) {
      this.wrong(node, place, `an object with one of: ${texts.join(', ')}`, 'none of them');
    }
  }

  private checkVariants(node: SourceNode, { by, of }: VariantsForm, place: DataPlace): void {
    if (node.kind !== 'map') return this.wrong(node, place, 'an object');
    const value = node.entries.find(({ key }) => key === by)?.value;
    if (value === undefined) return this.missing(node, place.field(by));
    const word = value.kind === 'scalar' && typeof value.value === 'string' ? value.value : '';
    const form = Object.hasOwn(of, word) ? of[word] : undefined;
    if (form !== undefined) return this.checkMap(node, form, place);
    this.wrong(value, place.field(by), `one of ${listed(Object.keys(of))}`);
  }

  private checkEither(node: SourceNode, { forms }: EitherForm, place: DataPlace): void {
    const form = forms.find((one) => takes(one, node));
    if (form !== undefined) return this.check(node, form, place);
    this.wrong(node, place, forms.map((one) => NAMES[one.kind] ?? 'a value').join(' or '));
  }

  private unknown({ key, at }: SourceEntry, known: readonly string[], isOpen: boolean, place: DataPlace): void {
    const near = this.findings.near(key, known);
    const message = `${place.text === '' ? '' : `${place.text}: `}unknown key ${quoteShort(key)}`;
    if (!isOpen) this.findings.error('unknown-key', message, at, near ?? `known keys: ${known.join(', ')}`);
    else if (near !== undefined) this.findings.warning('unknown-key', `${message} has no effect`, at, near);
  }

  private missing(node: SourceMap, place: DataPlace): void {
    this.findings.error('missing-key', `${place.text} is missing`, node.at);
  }

  private wrong(node: SourceNode, place: DataPlace, wanted: string, seen = describe(node)): void {
    this.findings.error(
      'wrong-form',
      `${place.text || 'the file'} must be ${wanted}, not ${shown(node) ?? seen}`,
      node.at,
    );
  }
}

const NAMES: Readonly<Partial<Record<Form['kind'], string>>> = {
  text: 'a text',
  word: 'a text',
  integer: 'a whole number',
  number: 'a number',
  flag: 'true or false',
  list: 'a list',
  map: 'an object',
  divided: 'an object',
  names: 'an object',
  variants: 'an object',
};

/** Whether a form accepts the type of a value. */
function takes(form: Form, node: SourceNode): boolean {
  if (node.kind === 'list') return form.kind === 'list';
  if (node.kind === 'map') return ['map', 'names', 'variants', 'divided'].includes(form.kind);
  if (typeof node.value === 'string') return form.kind === 'text' || form.kind === 'word';
  if (typeof node.value === 'number') return form.kind === 'integer' || form.kind === 'number';
  return form.kind === 'flag' && typeof node.value === 'boolean';
}

function partOf(form: DividedForm, node: SourceNode): Form {
  return node.kind === 'map' && form.by.some((key) => has(node, key)) ? form.with : form.without;
}

function valueOf(node: SourceNode): SourceScalar['value'] | undefined {
  return node.kind === 'scalar' ? node.value : undefined;
}

function listed(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ');
}

/** Returns a scalar as messages show it. */
function shown(node: SourceNode): string | undefined {
  if (node.kind !== 'scalar') return undefined;
  return typeof node.value === 'string' ? `the text ${quoteShort(node.value)}` : String(node.value);
}

function has(node: SourceMap, key: string): boolean {
  return node.entries.some((entry) => entry.key === key);
}
