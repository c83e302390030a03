import { expectTypeOf, test } from 'vitest';
import { list, TEXT, word } from '../../src/plan/form.js';
import { course, result } from '../../src/plan/rows.js';
import type { Rows } from '../../src/plan/rows.js';

interface Fields {
  readonly size: 'small' | 'large';
  readonly notes?: readonly string[];
}

const size = result('size', word('small', 'large'));
const notes = course('notes', list(TEXT));

test('a table has a row for each field of its type, and in its form', () => {
  expectTypeOf({ size, 'notes?': notes }).toExtend<Rows<Fields>>();
  expectTypeOf({ size }).not.toExtend<Rows<Fields>>();
  // One that may be absent is marked.
  expectTypeOf({ size, notes }).not.toExtend<Rows<Fields>>();
  expectTypeOf({ size, 'notes?': course('notes', TEXT) }).not.toExtend<Rows<Fields>>();
  // A word is missing.
  expectTypeOf({ size: result('size', word('small')), 'notes?': notes }).not.toExtend<Rows<Fields>>();
});
