import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entryOf, toJson } from '../../src/text/nodes.js';
import type { SourceNode } from '../../src/text/nodes.js';
import { parseYaml } from '../../src/text/yaml.js';
import { YAML_LIMITS } from '../../src/text/yaml-limits.js';
import { brief } from './project.js';
import { cases } from '../thorough.js';

const data = (text: string): unknown => {
  const { root } = parseYaml(text, 'f.yaml');
  return root === undefined ? undefined : toJson(root);
};

describe('YAML values', () => {
  it('are those of YAML 1.2: yes is text, 012 is twelve, null is empty', () => {
    expect(data('a: yes\nb: 012\nc: 0o14\nd: ~\ne:\nf: true\ng: 1.5')).toEqual({
      a: 'yes',
      b: 12,
      c: 12,
      d: null,
      e: null,
      f: true,
      g: 1.5,
    });
  });

  it('stay YAML 1.2 when the file asks for 1.1', () => {
    expect(data('%YAML 1.1\n---\na: yes\n')).toEqual({ a: 'yes' });
  });

  it('keep the text of a scalar as it was written', () => {
    const { root } = parseYaml('a: 1.50\nb: "x"\nc: 0x1F\nd: True', 'f.yaml');
    const texts = ['a', 'b', 'c', 'd'].map((key) => {
      const node = entryOf(root, key)?.value;
      return node?.kind === 'scalar' ? node.text : undefined;
    });
    expect(texts).toEqual(['1.50', 'x', '0x1F', 'True']);
  });

  it('replace half of a surrogate pair, which could not be written to a file', () => {
    expect(data('a: "x\\ud800y"')).toEqual({ a: 'x\uFFFDy' });
  });

  it('share what an alias stands for', () => {
    expect(data('a: &x [1]\nb: *x\n&k key: *x')).toEqual({ a: [1], b: [1], key: [1] });
  });
});

describe('YAML problems', () => {
  const texts: readonly (readonly [name: string, text: string, problems: readonly string[]])[] = [
    ['a key that is there twice', 'a: 1\nb: 2\na: 3', ['3:1 error duplicate-key']],
    ['several documents', 'a: 1\n---\nb: 2', ['2:1 error yaml-documents']],
    ['a merge key', 'a: &a {x: 1}\nb:\n  <<: *a', ['3:3 error yaml-merge']],
    ['a tag', 'a: !!js/function "x"', ['1:4 error yaml-tag']],
    ['a binary tag', 'a: !!binary aGk=', ['1:4 error yaml-tag']],
    ['a tab as indentation', 'a:\n\tb: 1', ['2:1 error yaml-syntax']],
    ['an unclosed list', 'a: [1,\n  b', ['2:4 error yaml-syntax']],
    ['an unknown anchor', 'a: *nope', ['1:4 error yaml-alias']],
    ['an alias to what contains it', 'a: &a [1, *a]', ['1:11 error yaml-alias']],
    ['a key that is a list', '? [a]\n: b', ['1:3 error bad-key']],
    ['__proto__', '__proto__: {x: 1}', ['1:1 error forbidden-name']],
    ['constructor, deep down', 'a:\n  - {constructor: 1}', ['2:6 error forbidden-name']],
  ];
  it.each(texts)('%s', (_, text, problems) => {
    expect(brief(parseYaml(text, 'f.yaml').problems)).toEqual(problems);
  });

  it('are all listed at once', () => {
    expect(brief(parseYaml('a: 1\na: 2\nb: !x 1\n<<: 1', 'f.yaml').problems)).toEqual(
      expect.arrayContaining(['2:1 error duplicate-key', '3:4 error yaml-tag', '4:1 error yaml-merge']),
    );
  });

  it('count lines from where the text begins in its file, and after CRLF', () => {
    expect(brief(parseYaml('a: 1\r\na: 2\r\n', 'f.yaml', { firstLine: 10 }).problems)).toEqual([
      '11:1 error duplicate-key',
    ]);
  });
});

describe('YAML limits', () => {
  const refused = (text: string): string | undefined => {
    const { root, problems } = parseYaml(text, 'f.yaml');
    expect(root).toBeUndefined();
    expect(brief(problems).every((line) => line.endsWith('yaml-limit'))).toBe(true);
    return problems[0]?.message;
  };
  const deep = 100_000;

  it.each([
    ['brackets', '['.repeat(deep)],
    ['braces', '{a: '.repeat(deep)],
    ['dashes', '- '.repeat(deep)],
    ['question marks', '? '.repeat(deep)],
    ['closed brackets', `a: ${'['.repeat(deep)}${']'.repeat(deep)}`],
  ])('a document 100,000 deep is refused: %s', (_, text) => {
    expect(refused(text)).toBe('nested deeper than 100 levels');
  });

  it.each(['a', '"a"', "'a'", '&x a', '!!str a', ''])('indentation counts as depth: %s:', (key) => {
    const lines = Array.from({ length: 300 }, (_, level) => `${' '.repeat(level)}${key}:`);
    expect(refused(lines.join('\n'))).toBe('nested deeper than 100 levels');
  });

  it('10 MB of text are refused', () => {
    expect(refused('x'.repeat(10_000_000))).toBe('10.0 MB of text; the limit is 4.0 MB');
  });

  it('a bomb of nine nested lists of nine aliases is refused', () => {
    const lines = 'bcdefghi'.split('').map((name, at) => `${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(9)}]`);
    expect(refused(['a: &a [lol,lol,lol]', ...lines].join('\n'))).toBe('more than 80000 keys and values');
  });

  it('aliases that make a value deeper than any text could be are refused; as deep as a text can be is fine', () => {
    const steps = Array.from(
      { length: 40 },
      (_, at) => `k${at}: &k${at} ${'['.repeat(90)}${at === 0 ? 1 : `*k${at - 1}`}${']'.repeat(90)}`,
    );
    expect(refused(steps.join('\n'))).toBe('nested deeper than 200 levels');
    const deepest = Array.from({ length: 99 }, (_, at) => `${'  '.repeat(at)}${at === 0 ? '' : '- '}a:`).join('\n');
    expect(parseYaml(deepest, 'f.yaml').problems).toEqual([]);
  });

  it('more than a hundred aliases are refused', () => {
    expect(refused(`a: &a 1\nb: [${'*a,'.repeat(101)}]`)).toBe('more than 100 aliases');
  });

  it('a million empty lists are refused before they are built', () => {
    expect(refused(`[${'[],'.repeat(300_000)}`)).toBe('more than 80000 keys, values and list items');
  });

  it('a large and honest file is within them', () => {
    const step = (at: number): string => `  - id: s${at}\n    agent: a\n    prompt: |\n      Do it\n      well\n`;
    const text = `name: big\nsteps:\n${Array.from({ length: 1_500 }, (_, at) => step(at)).join('')}`;
    expect(parseYaml(text, 'f.yaml').problems).toEqual([]);
  });
});

describe('any text at all', () => {
  const yamlish = fc.string({
    unit: fc.constantFrom(
      ...'ab:-?[]{},&*!|>\'"%@`#\n\n  \t\r~01.x<'.split(''),
      '---\n',
      '\n  ',
      ': ',
      '- ',
      '<<: ',
      '&a ',
      '*a',
    ),
    maxLength: 200,
  });

  it('never throws, gives data or problems, and places within the text', () => {
    fc.assert(
      fc.property(fc.oneof(yamlish, fc.string({ unit: 'binary' })), (text) => {
        const { root, problems } = parseYaml(text, 'f.yaml');
        const lines = text.split('\n').length;
        for (const { at } of problems) expect(at?.line ?? 0).toBeLessThanOrEqual(lines);
        if (root !== undefined) JSON.stringify(toJson(root));
      }),
      { numRuns: cases(350) },
    );
  });

  it('is never nested deeper than the limit allows', () => {
    const limits = { ...YAML_LIMITS, maxDepth: 5 };
    fc.assert(
      fc.property(yamlish, (text) => {
        const { root } = parseYaml(text, 'f.yaml', { limits });
        if (root !== undefined) expect(depthOf(root)).toBeLessThanOrEqual(2 * limits.maxDepth);
      }),
      { numRuns: cases(250) },
    );
  });

  it('places every value on the line on which it was written', () => {
    const value = fc.constantFrom('plain', '"quoted"', '7', '[1, 2]', '{x: 1}', 'true');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 3 }), value), { minLength: 1, maxLength: 20 }), (entries) => {
        let text = '';
        const wanted: number[] = [];
        entries.forEach(([blank, written], at) => {
          text += '# a comment\n'.repeat(blank);
          wanted.push(text.split('\n').length);
          text += `key${at}:   ${written}\n`;
        });
        const { root } = parseYaml(text, 'f.yaml');
        const map = root?.kind === 'map' ? root : undefined;
        expect(map?.entries.map((entry) => [entry.at.line, entry.value.at.line])).toEqual(wanted.map((l) => [l, l]));
        expect(map?.entries.every((entry, at) => entry.value.at.column === `key${at}:   `.length + 1)).toBe(true);
      }),
    );
  });
});

function depthOf(node: SourceNode): number {
  if (node.kind === 'scalar') return 0;
  const below = node.kind === 'list' ? node.items : node.entries.map((entry) => entry.value);
  return 1 + Math.max(0, ...below.map(depthOf));
}
