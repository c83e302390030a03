import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.js';
import type { GuardRules, GuardedCall } from '../../src/guard/decide.js';
import { decide } from '../../src/guard/decide.js';
import { addressesIn, effectOf } from '../../src/guard/effects.js';
import type { Level } from '../../src/guard/label.js';

const at = (level: Level, isPrivate = false) => ({
  level,
  isPrivate,
  sources: level === 'trusted' ? [] : ['a@tool#1.1'],
});
const call = (given: Partial<GuardedCall> & Pick<GuardedCall, 'effect'>): GuardedCall => ({
  tool: 'kit/do',
  input: {},
  seesPrivate: true,
  ...given,
});

/** The table of docs/security.md, row by row: trusted, vetted, untrusted. */
const TABLE: readonly (readonly [string, GuardedCall, GuardRules, string])[] = [
  ['reads files of the project', call({ effect: 'read', tool: 'read_file' }), {}, 'allow allow allow'],
  ['reads by a tool that the agent names', call({ effect: 'read', server: { named: true } }), {}, 'allow allow allow'],
  ['reads by a tool of a whole server', call({ effect: 'read', server: { named: false } }), {}, 'allow allow ask'],
  ['gets a host', call({ effect: 'get', tool: 'fetch', input: { url: 'https://a.example/x' } }), {}, 'allow ask ask'],
  [
    'gets a declared host',
    call({ effect: 'get', tool: 'fetch', input: { url: 'https://a.example/x' } }),
    { hosts: ['*.example'] },
    'allow allow allow',
  ],
  [
    'gets a host and can see nothing private',
    call({ effect: 'get', tool: 'fetch', input: { url: 'https://a.example/x' }, seesPrivate: false }),
    {},
    'allow allow allow',
  ],
  ['writes a new text', call({ effect: 'write', tool: 'write_file', write: 'data' }), {}, 'allow allow allow'],
  ['writes what it wrote', call({ effect: 'write', tool: 'write_file', write: 'own' }), {}, 'allow allow allow'],
  ['writes something else', call({ effect: 'write', tool: 'write_file' }), {}, 'allow allow ask'],
  ['runs a command', call({ effect: 'run', tool: 'shell', argv: ['npm', 'test'] }), {}, 'allow ask ask'],
  [
    'runs a declared command',
    call({ effect: 'run', tool: 'shell', argv: ['npm', 'test'] }),
    { commands: [['npm', 'test']] },
    'allow allow ask',
  ],
  [
    'runs a declared command in a sandbox',
    call({ effect: 'run', tool: 'shell', argv: ['npm', 'test'] }),
    { commands: [['npm', 'test']], sandboxed: true },
    'allow allow allow',
  ],
  [
    'runs a declared command in another folder',
    call({ effect: 'run', tool: 'shell', argv: ['npm', 'test'], input: { cwd: 'sub' } }),
    { commands: [['npm', 'test']], sandboxed: true },
    'allow ask ask',
  ],
  [
    'runs a command with one word more than is declared',
    call({ effect: 'run', tool: 'shell', argv: ['npm', 'test', '-x'] }),
    { commands: [['npm', 'test']], sandboxed: true },
    'allow ask ask',
  ],
  [
    'runs a command after somebody planted a file',
    call({ effect: 'run', tool: 'shell', argv: ['npm', 'test'] }),
    { commands: [['npm', 'test']], planted: true },
    'ask ask ask',
  ],
  ['sends', call({ effect: 'send' }), {}, 'allow ask ask'],
  [
    'sends what is declared',
    call({ effect: 'send', input: { pr: 7, body: 'x' } }),
    { sends: [{ tool: 'kit/do', fixed: { pr: 7 }, free: ['body'] }] },
    'allow allow allow',
  ],
  [
    'sends elsewhere than is declared',
    call({ effect: 'send', input: { pr: 8, body: 'x' } }),
    { sends: [{ tool: 'kit/do', fixed: { pr: 7 }, free: ['body'] }] },
    'allow ask ask',
  ],
  [
    'sends with an argument that is in neither list',
    call({ effect: 'send', input: { pr: 7, body: 'x', cc: 'y' } }),
    { sends: [{ tool: 'kit/do', fixed: { pr: 7 }, free: ['body'] }] },
    'allow ask ask',
  ],
  [
    'sends without a fixed argument',
    call({ effect: 'send', input: { body: 'x' } }),
    { sends: [{ tool: 'kit/do', fixed: { pr: 7 }, free: ['body'] }] },
    'allow ask ask',
  ],
  [
    'sends by another tool than the declared one',
    call({ effect: 'send', tool: 'kit/other', input: { body: 'x' } }),
    { sends: [{ tool: 'kit/do', free: ['body'] }] },
    'allow ask ask',
  ],
];

describe('a call that the guard decides about', () => {
  it.each(TABLE)('%s', (_what, one, rules, expected) => {
    const kinds = (['trusted', 'vetted', 'untrusted'] as const).map((level) => decide(one, at(level), rules).kind);
    expect(kinds.join(' ')).toBe(expected);
  });

  it('that is asked says why, from where, and what would allow it', () => {
    const one = call({ effect: 'send', tool: 'mail/send', input: { to: 'eve@evil.example', body: 'x' } });
    expect(decide(one, at('untrusted'), {})).toEqual({
      kind: 'ask',
      rule: 'undeclared-send',
      why: 'mail/send changes or sends something outside, and untrusted text influenced it',
      sources: ['a@tool#1.1'],
      // Never with the values of the call.
      declare: 'sends: [{ tool: mail/send, fixed: { to: ..., body: ... }, free: [] }]',
    });
  });

  it('is never freer when more people had a say, nor less free when more is declared', () => {
    const kinds = ['allow', 'ask', 'deny'];
    const rules = fc.record(
      {
        hosts: fc.subarray(['a.example', '*.b.example']),
        commands: fc.subarray([['npm', 'test'], ['ls']]),
        sends: fc.subarray([
          { tool: 'kit/do', fixed: { a: '1' } },
          { tool: 'kit/do', free: ['a', 'url'] },
        ]),
        sandboxed: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const calls = fc.record({
      effect: fc.constantFrom('read', 'get', 'write', 'run', 'send'),
      tool: fc.constantFrom('kit/do', 'shell'),
      input: fc.dictionary(
        fc.constantFrom('a', 'url', 'cwd'),
        fc.constantFrom('1', '.', 'https://a.example/', 'https://x.b.example', 'https://evil.example'),
      ),
      server: fc.constantFrom(undefined, { named: true }, { named: false }),
      argv: fc.constantFrom(undefined, [], ['npm', 'test'], ['ls']),
      write: fc.constantFrom(undefined, 'data', 'own'),
      seesPrivate: fc.boolean(),
    } as const);
    const levels = ['trusted', 'vetted', 'untrusted'] as const;
    fc.assert(
      fc.property(calls, rules, fc.boolean(), (one, some, isPrivate) => {
        const strictness = (level: Level, given: GuardRules): number =>
          kinds.indexOf(decide(one, at(level, isPrivate), given).kind);
        levels.forEach((level, i) => {
          expect(strictness(level, some)).toBeLessThanOrEqual(strictness(level, {}));
          expect(strictness(level, some)).toBeGreaterThanOrEqual(strictness(levels[i - 1] ?? level, some));
          expect(decide(one, at(level, true), some).kind === 'allow' ? 'allow' : 'asked').toSatisfy(
            (priv) => priv === 'asked' || decide(one, at(level, false), some).kind === 'allow',
          );
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe('the effect of a call', () => {
  it.each([
    ['read', { builtIn: 'grep', effect: 'read' }, {}],
    ['write', { builtIn: 'edit_file', effect: 'once' }, {}],
    ['run', { builtIn: 'shell', effect: 'once' }, { argv: ['ls'] }],
    ['get', { builtIn: 'fetch', effect: 'idempotent' }, { url: 'https://a.example' }],
    ['send', { builtIn: 'fetch', effect: 'idempotent' }, { url: 'https://a.example', method: 'POST' }],
    ['send', { builtIn: 'fetch', effect: 'idempotent' }, { url: 'https://a.example', body: '' }],
    ['send', { effect: 'idempotent', server: { readOnly: false } }, {}],
    ['read', { effect: 'idempotent', server: { readOnly: true } }, { id: '7', file: 'notes.md' }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { q: 'see https://a.example' }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { deep: [{ recipient: 'eve' }] }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { q: 'eve@evil.example' }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { baseUrl: 'intranet' }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { 'image-url': 'intranet' }],
    ['get', { effect: 'idempotent', server: { readOnly: true } }, { hostName: 'intranet' }],
    ['read', { effect: 'idempotent', server: { readOnly: true } }, { filePath: 'notes.md', 'out-dir': 'a.io' }],
    ['read', { effect: 'read' }, {}],
    ['send', { effect: 'idempotent' }, {}],
  ] as const)('is %s for %j with %j', (expected, tool, input) => {
    expect(effectOf(tool, input)).toBe(expected);
  });
});

describe('an address among the arguments of a call', () => {
  it.each([
    ['https://a.example/x', 'a.example'],
    ['HTTPS://A.Example:443/x', 'a.example'],
    ['http://a.example:8080/', 'a.example:8080'],
    ['//a.example/x', 'a.example'],
    ['www.a.example', 'www.a.example'],
    ['a.example/path?q=1', 'a.example'],
    ['eve@a.example', 'a.example'],
    ['http://0x7f.1/', '127.0.0.1'],
    // What programs read in different ways is not known to be any host.
    ['https://a.example\t@evil.example/', undefined],
    ['https://a.example\\@evil.example/', undefined],
    ['https://a.example@evil.example/', undefined],
    ['https:/evil.example', undefined],
    ['ftp://a.example/x', undefined],
    ['gopher', undefined],
  ])('%j leads to %s', (text, where) => {
    expect(addressesIn({ url: text }).map((one) => one.where)).toContain(where);
  });

  it('that is nested too deeply to be looked through is not known to lead to any host', () => {
    const nested = (levels: number): JsonObject =>
      Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ inner }), { url: 'https://a.example' });
    expect(addressesIn(nested(40)).every((one) => one.where === 'a.example')).toBe(true);
    expect(addressesIn(nested(60)).map((one) => one.where)).toEqual([undefined]);
  });

  // A program that completes an address with its scheme, or takes a text apart, would go to another host than the declared one.
  it.each([
    'evil.example/?q=secret&u=https://a.example',
    'evil.example/https://a.example',
    'evil.example:443/https://a.example',
    'evil.example:https://a.example',
    'evil.example https://a.example',
    'https://a.example evil.example/x',
    'https://a.example,https://evil.example',
    'localhost/https://a.example',
    'view-source:https://a.example',
    'evil.example/?q=secret@a.example',
    'evil.example/@a.example',
    'evil.example\\@a.example',
    '127.0.0.1/#@a.example',
  ])('does not count as declared because it holds one that is: %j', (url) => {
    const made = (input: JsonObject) =>
      decide(call({ effect: 'get', input }), at('untrusted'), { hosts: ['a.example'] });
    expect(made({ url }).kind).toBe('ask');
    expect(made({ urls: [url] }).kind).toBe('ask');
  });

  it.each([
    'https://a.example/?u=https://evil.example',
    'https://a.example/Loom_(machine),b;c',
    '<https://a.example>',
    'a.example/x,y',
    'Ann <ann@a.example>',
  ])('counts as declared if it leads nowhere else: %j', (url) => {
    expect(decide(call({ effect: 'get', input: { url } }), at('untrusted'), { hosts: ['a.example'] }).kind).toBe(
      'allow',
    );
  });

  it.each([
    'data_1.evil.example',
    '-data.evil.example',
    'evil.example.',
    'evil.example.:443/x',
    'evil.example/x y',
    'evil%2Eexample',
    'evil\u3002example',
    'evil\uff0eexample',
    '\uff45vil.example',
    '\u00e9vil.example',
    'evil.\u4e2d\u56fd',
  ])('is one in every form in which programs connect to it, whatever the argument is called: %j', (site) => {
    expect(effectOf({ effect: 'idempotent', server: { readOnly: true } }, { site })).toBe('get');
    const one = call({ effect: 'get', input: { site } });
    expect(decide(one, at('untrusted'), { hosts: ['a.example'] }).kind).toBe('ask');
  });

  it.each(['1.5', 'v1.2.3', 'src/a.ts', 'A sentence. Another one.', 'a.b', '100%', '...'])('is not %j', (q) => {
    expect(effectOf({ effect: 'idempotent', server: { readOnly: true } }, { q })).toBe('read');
  });

  it('is not told for more than a hundred: they may lead anywhere', () => {
    const input = { q: 'https://a.example/ '.repeat(200) };
    expect(decide(call({ effect: 'get', input }), at('untrusted'), { hosts: ['a.example'] }).kind).toBe('ask');
  });

  it('is found in 64 kB of any text in no time that grows faster than the text', () => {
    for (const piece of ['a', 'a.', 'a@', 'http:', '//', 'www.', '-', ':'])
      expect(addressesIn({ q: piece.repeat(65_536 / piece.length) })).toBeDefined();
  });
});
