import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { permissionCheck } from '../../src/agent/permissions/permissions.js';
import { isPlainObject } from '../../src/base/json.js';
import { SkeinError } from '../../src/base/errors.js';
import { decide } from '../../src/guard/decide.js';
import { effectOf, isDataFile } from '../../src/guard/effects.js';
import { compileExpression } from '../../src/lang/expression.js';
import { parseJsonText, readPath } from '../../src/lang/json-path.js';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { parseTemplate, renderTemplate } from '../../src/lang/template.js';
import { parseYaml } from '../../src/text/yaml.js';
import { tell } from './support/figures.js';
import { seedOf } from '../thorough.js';

const N = 1_000;
const HOW = { numRuns: N, seed: seedOf(16) };

const UNTRUSTED = { level: 'untrusted', isPrivate: true, sources: ['a@tool#1.1'] } as const;

/** Some of these, one after the other. */
const soup = (pieces: readonly string[], maxLength = 10): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength }).map((all) => all.join(''));

/** How a name of an object that all share may be written. */
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'];

/** A path into what all objects share. */
const path = fc.array(fc.constantFrom(...NAMES, 'a', '0', 'length'), { minLength: 1, maxLength: 6 });

/** What the objects of this program must still be. */
function isClean(): boolean {
  const fresh: Record<string, unknown> = {};
  return fresh['polluted'] === undefined && Object.keys(Object.prototype).length === 0;
}

describe('hostile inputs', () => {
  it('addresses: what leads to a host that is not declared is asked about', () => {
    const pieces = [
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '.',
      '%2e',
      '%40',
      '%00',
      '\t',
      ' ',
      '\u3002',
      '\uff0f',
      'a.example',
      'evil.example',
      'A.EXAMPLE',
      '127.0.0.1',
      '0x7f.1',
      '[::1]',
      'user',
      '443',
      '8080',
      '\u200b',
    ];
    const address = fc
      .tuple(fc.constantFrom('', 'https://', 'https://a.example'), soup(pieces))
      .map((all) => all.join(''));
    let declared = 0;
    fc.assert(
      fc.property(address, (url) => {
        const call = { effect: 'get', tool: 'fetch', input: { url }, seesPrivate: true } as const;
        const { kind } = decide(call, UNTRUSTED, { hosts: ['a.example'] });
        const read = effectOf({ effect: 'read', server: { readOnly: true } }, { url });
        // As a program that follows the standard reads it.
        const host = URL.canParse(url) ? new URL(url).host : undefined;
        if (host === undefined) return;
        expect([url, read]).toEqual([url, 'get']);
        if (host === 'a.example') declared += 1;
        else expect([url, host, kind]).toEqual([url, host, 'ask']);
      }),
      HOW,
    );
    expect(declared).toBeGreaterThan(20);
    tell({ what: 'hostile addresses', n: N, forbidden: 0, goal: 'no other host unasked' });
  });

  it('commands: no form of a denied command is let through', () => {
    const word = fc.constantFrom('rm', 'RM', '/bin/rm', '../bin/rm', './rm');
    const options = fc.array(fc.constantFrom('-rf', '-r', '--', 'x', '', '*', '~'), { maxLength: 3 });
    const plain = fc.tuple(word, options).map(([program, rest]) => [program, ...rest]);
    const quoted = (words: readonly string[]): string => words.map((one) => `'${one}'`).join(' ');
    const WRAPS: readonly ((words: readonly string[]) => readonly string[])[] = [
      (words) => ['env', ...words],
      (words) => ['env', 'A=1', 'B=rm', ...words],
      (words) => ['nohup', ...words],
      (words) => ['nice', '-n', '5', ...words],
      (words) => ['timeout', '5', ...words],
      (words) => ['xargs', ...words],
      (words) => ['find', '.', '-exec', ...words, ';'],
      (words) => ['sh', '-c', quoted(words)],
      (words) => ['bash', '-lc', `cd a && ${quoted(words)}`],
      (words) => ['sh', '-c', `if true; then ${quoted(words)}; fi`],
      (words) => ['sh', '-c', `(${quoted(words)}) >out 2>&1 &`],
      (words) => ['sh', '-c', `A=1 ${quoted(words)} | cat`],
    ];
    // A quote in a quote ends it: a shell stands outermost.
    const isShell = (wrap: (typeof WRAPS)[number]): boolean => WRAPS.indexOf(wrap) > 6;
    const wraps = fc.tuple(
      fc.array(fc.constantFrom(...WRAPS.filter((wrap) => !isShell(wrap))), { maxLength: 3 }),
      fc.array(fc.constantFrom(...WRAPS.filter(isShell)), { maxLength: 1 }),
      fc.array(fc.constantFrom(...WRAPS.filter((wrap) => !isShell(wrap))), { maxLength: 2 }),
    );
    const check = permissionCheck({ deny: ['shell:cmd=rm *'], allow: ['*'] }, { agent: 'a', cwd: '/project' });
    fc.assert(
      fc.property(plain, wraps, (words, [inner, shell, outer]) => {
        const argv = [...inner, ...shell, ...outer].reduce<readonly string[]>((all, wrap) => wrap(all), words);
        const { kind } = check({ name: 'shell', input: { argv: [...argv] }, tool: { effect: 'once' } });
        expect([argv, kind]).toEqual([argv, 'deny']);
      }),
      HOW,
    );
    tell({ what: 'hostile commands against a rule that denies', n: N, forbidden: 0, goal: 'all denied' });
  });

  it('paths: no name that a program obeys counts as plain text', () => {
    const forAgents = ['.github/workflows/a.md', 'AGENTS.md', 'claude.md', 'SKILL.md', 'x.prompt.md'];
    const local = ['CLAUDE.local.md', 'AGENTS.override.md', 'qwen.md'];
    // pytest runs the examples in texts whose name begins with test, go test runs the scripts in testdata.
    const forPrograms = ['requirements.txt', 'conanfile.txt', 'apt.txt', 'test_notes.txt', 'testdata/script/a.txt'];
    const OBEYED = [...forAgents, ...local, ...forPrograms];
    const folders = ['docs', 'a b', '.git', '..', '', '.', 'src', '\u202e', 'a\0'];
    const file = fc.constantFrom(
      'package.json',
      '.env',
      'a.sh',
      'Makefile',
      'a.md/',
      '.md',
      'a.md\0',
      'a.md\n',
      ...OBEYED,
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...folders), { maxLength: 4 }), file, (parts, name) => {
        expect(isDataFile([...parts, name].join('/'))).toBe(false);
        expect(isDataFile([...parts, name.toUpperCase()].join('/'))).toBe(false);
      }),
      HOW,
    );
    for (const name of ['report.md', 'latest.txt', 'notes/tests.md', 'test-results.csv', 'contested.txt', 'data/a.txt'])
      expect([name, isDataFile(name)]).toEqual([name, true]);
    tell({ what: 'hostile names of files', n: N, forbidden: 0, goal: 'none is plain text' });
  });

  it('names of what all objects share: JSON, YAML, templates and declarations leave them alone', () => {
    fc.assert(
      fc.property(path, (names) => {
        const nested = names.reduceRight((inner, name) => `{${JSON.stringify(name)}: ${inner}}`, '{"polluted": true}');
        const fromJson = parseJsonText(nested);
        const { root, problems } = parseYaml(nested, 'a.yaml');
        const isRefused = names.some((name) => ['__proto__', 'constructor', 'prototype'].includes(name));
        // Own keys are data; anything else leads nowhere.
        expect(readPath({}, names)).toBeUndefined();
        expect(() => renderTemplate([{ channel: 'a', path: names }], () => ({}))).toThrow(SkeinError);
        const input = isPlainObject(fromJson) ? fromJson : {};
        const call = { effect: 'send', tool: 'kit/do', input: input as never, seesPrivate: true } as const;
        for (const sends of [[{ tool: 'kit/do' }], [{ tool: 'kit/do', fixed: { a: 1 }, free: ['b'] }]])
          expect(decide(call, UNTRUSTED, { sends }).kind).toBe('ask');
        expect([root !== undefined, problems.length > 0, isClean()]).toEqual([true, isRefused, true]);
      }),
      HOW,
    );
    tell({ what: 'hostile names of keys', n: N, forbidden: 0, goal: 'nothing shared is read or changed' });
  });

  it('expressions and templates end with a value or with an error that says so', () => {
    const pieces = [
      'a',
      '.',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '\\',
      '0',
      '1e999',
      '-',
      '!',
      '&&',
      '?',
      ':',
      ',',
    ];
    const words = [
      ...pieces,
      'a.all(x, ',
      'a.map(x, ',
      'size(',
      'has(',
      'a.constructor',
      '__proto__',
      '{{',
      '}}',
      '%',
      'in ',
    ];
    fc.assert(
      fc.property(soup(words, 30), (source) => {
        const { expression, problems } = compileExpression(source, ['a']);
        expect(expression !== undefined || problems.length > 0).toBe(true);
        let error: unknown;
        try {
          const value = expression?.evaluate({ a: [1, 'x', { b: 1 }] });
          expect(typeof value).not.toBe('function');
        } catch (thrown) {
          error = thrown;
        }
        expect(error === undefined || SkeinError.isInstance(error)).toBe(true);
        expect(
          parseTemplate(source).every((piece) => typeof piece === 'string' || source.includes(piece.expression)),
        ).toBe(true);
      }),
      HOW,
    );
    tell({ what: 'hostile expressions and templates', n: N, forbidden: 0, goal: 'a value or a typed error' });
  });

  it('schemas end with findings, whatever they are made of', () => {
    const KEYWORDS = [
      'type',
      'properties',
      'items',
      '$ref',
      'allOf',
      'not',
      'pattern',
      'required',
      'enum',
      '$defs',
      'format',
      '__proto__',
      'toString',
    ];
    const { schema } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          '#',
          '#/$defs/a',
          '#/allOf/0',
          '(a+)+$',
          '((?=.*b)a)*c',
          'object',
          'string',
          'https://evil.example/s',
          -1,
          null,
          true,
        ),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
      schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(schema, (one) => {
        for (const value of [{ a: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' }, [1], 'x', null])
          expect(Array.isArray(schemaFindings(one, value))).toBe(true);
        expect(isClean()).toBe(true);
      }),
      HOW,
    );
    tell({ what: 'hostile schemas', n: N, forbidden: 0, goal: 'findings, and an end' });
  });
});
