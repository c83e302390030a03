import { quoteShort } from '../lang/value-text.js';
import type { MapNode } from '../plan/plan.js';
import { MOST_ROUNDS } from '../plan/limits.js';
import { integer, map, text, word } from '../text/forms.js';
import type { SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { readRequire, REQUIRE_KEY } from './step-keys.js';

/** The default maximum length of a map's list. */
export const DEFAULT_ITEMS = 100;

/** Names that already mean something else in templates. */
const OTHER_NAMES: readonly string[] = ['steps', 'prompt', 'inputs', 'index', 'key', 'run'];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const MAP_KEYS = {
  over: text('a reference to a list', { needed: true }),
  as: text('the name of an item in references', {
    pattern: NAME.source,
    except: OTHER_NAMES,
    default: 'item',
    blank: true,
  }),
  key: text('the path of what names an item', { pattern: '^[^.]*[^.\\s][^.]*(?:\\.[^.]*[^.\\s][^.]*)*$', blank: true }),
  max_items: integer('a longer list fails the step', { min: 1, max: MOST_ROUNDS, default: DEFAULT_ITEMS }),
  concurrency: integer('how many items at once; by default no limit', { min: 1, max: MOST_ROUNDS }),
  on_item_error: word(['fail', 'continue'], 'continue leaves out items that fail', { default: 'fail' }),
  ...REQUIRE_KEY,
} as const;

const KEYS = map(MAP_KEYS, '');

/** Steps for each item of a list, as written. */
export interface MapDef extends Pick<MapNode, 'key' | 'maxItems' | 'concurrency' | 'require' | 'onItemError'> {
  /** Undefined if a problem was reported. */
  readonly over: SourceScalar | undefined;
  readonly as: string;
}

/** Reads the keys of a map. Problem codes: `missing-over`, `bad-name`, `bad-path`, `bad-require`, and those of the types. */
export function readMapKeys(fields: Fields): MapDef {
  const { max_items: maxItems = DEFAULT_ITEMS, concurrency, on_item_error: onItemError } = fields.values(KEYS);
  const hint = 'add "over:" with a reference to the list to go through';
  fields.needs('over', 'missing-over', `nothing says what ${fields.name} goes through`, hint);
  const key = readKeyPath(fields);
  const require = readRequire(fields, { most: maxItems, word: 'item' });
  if (require !== undefined && fields.has('on_item_error')) {
    const message = `on_item_error of ${fields.name} has no effect when require is set`;
    fields.warning('no-effect', 'on_item_error', message, 'remove it: require says how many items may fail');
  }
  return {
    over: fields.given('over'),
    as: readItemName(fields),
    ...(key === undefined ? {} : { key }),
    maxItems,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(require === undefined ? {} : { require }),
    ...(require === undefined && onItemError === 'continue' ? { onItemError: 'leaveOut' as const } : {}),
  };
}

function readItemName(fields: Fields): string {
  const name = fields.given('as');
  if (name === undefined || (NAME.test(name.text) && !OTHER_NAMES.includes(name.text))) return name?.text ?? 'item';
  const hint = `use letters, digits and _, no digit in front, and none of ${OTHER_NAMES.join(', ')}`;
  fields.error('bad-name', 'as', `as of ${fields.name} is ${quoteShort(name.text)}`, hint);
  return 'item';
}

function readKeyPath(fields: Fields): readonly string[] | undefined {
  const path = fields.given('key');
  if (path === undefined) return undefined;
  const parts = path.text.split('.');
  if (parts.every((part) => part.trim() !== '')) return parts;
  const hint = 'write the path into an item that names it, such as key: file.path';
  fields.error('bad-path', 'key', `key of ${fields.name} is ${quoteShort(path.text)}`, hint);
  return undefined;
}
