import { describe, expect, it } from 'vitest';
import type { JsonTemplate } from '../../src/lang/values.js';
import { jsonTemplate } from '../../src/notations/values-key.js';
import { openText } from '../../src/notations/opened-file.js';

/** A value of a file; a text that begins with `$` is a reference. */
function read(text: string): { readonly found: JsonTemplate; readonly places: readonly string[] } {
  const { content } = openText(text, 'flow.yaml', '/flow.yaml').yaml();
  if (content === undefined) throw new Error('it is not YAML');
  const places: string[] = [];
  const found = jsonTemplate(content.root, (scalar) => {
    places.push(`${scalar.at.line}:${scalar.at.column}`);
    return scalar.text.startsWith('$') ? [{ channel: scalar.text.slice(1) }] : [scalar.text];
  });
  return { found, places };
}

describe('a JSON template in a file', () => {
  it('takes every text for one that may hold references, with its place, and everything else as it is', () => {
    const { found, places } = read('issue: $issue\nlabels:\n  - $first\n  - 7\n  - null\nfixed: { a: [true, "x"] }\n');
    expect(found).toEqual({
      object: {
        issue: { channel: 'issue' },
        labels: { list: [{ channel: 'first' }, { value: 7 }, { value: null }] },
        fixed: { value: { a: [true, 'x'] } },
      },
    });
    expect(places).toEqual(['1:8', '3:5', '6:20']);
  });

  it('does not take the names of keys for references', () => {
    expect(read('$issue: 1\n')).toEqual({ found: { value: { $issue: 1 } }, places: [] });
  });
});
