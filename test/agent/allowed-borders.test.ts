import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPipelineText } from '../../src/yaml.js';
import { matchesAddress, matchesCommand, matchesPath } from '../../src/agent/permissions/narrow-match.js';
import { permissionCheck } from '../../src/agent/permissions/permissions.js';

function verdict(rule: string, name: string, input: Readonly<Record<string, string | readonly string[]>>): string {
  const check = permissionCheck({ allow: [rule] }, { agent: 'root', cwd: '/project' });
  return check({ name, input, tool: { effect: 'once' } }).kind;
}

describe('[XS6] a rule that allows an address goes by labels of the host and segments of the path', () => {
  it.each([
    ['http://*.example.com/*', 'http://docs.example.com/a/b?c=d', true],
    ['http://*.example.com/*', 'http://a.b.example.com/', true],
    ['http://*.example.com/*', 'http://127.0.0.1/.example.com/', false],
    ['http://*.example.com/*', 'http://evil.test/x.example.com/', false],
    ['http://*.example.com/*', 'http://evil.test?.example.com/', false],
    ['http://*.example.com/*', 'http://evil.test#.example.com/', false],
    ['http://*.example.com/*', 'http://x@evil.test/.example.com/', false],
    ['http://*.example.com/*', 'http://example.com/', false],
    ['http://*.example.com/*', 'http://notexample.com/', false],
    ['http://*.example.com/*', 'http://a.example.com:8080/', false],
    ['http://*.example.com/*', 'https://a.example.com/', false],
    ['http://*.example.com:*/*', 'http://a.example.com:8080/', true],
    ['https://docs.example/v1/*', 'https://docs.example/v1/../secret', false],
    ['https://docs.example/*.html', 'https://docs.example/a.html', true],
    ['https://docs.example/*.html', 'https://docs.example/a/b.html', false],
    ['https://docs.example/*.html', 'https://docs.example/a?x=.html', false],
    ['https://docs.example/find?q=*', 'https://docs.example/find?q=looms/weft', true],
    ['https://docs.example/find?q=*', 'https://docs.example/find', false],
    ['https://1.2.3.*/*', 'https://1.2.3.4/', false],
    ['https://docs*.example/*', 'https://docs2.example/', true],
    ['https://docs*.example/*', 'https://docs.evil.example/', false],
    ['*', 'https://a.example/', true],
    ['https://*', 'https://a.example/', true],
    ['https://a.example', 'https://a.example/', true],
    ['https://A.Example/*', 'https://a.example/x', true],
  ])('%s, %s: %s', (pattern, url, allowed) => {
    expect(matchesAddress(pattern, url)).toBe(allowed);
    expect(verdict(`fetch:url=${pattern}`, 'fetch', { url })).toBe(allowed ? 'allow' : 'ask');
  });

  it('agrees with one that compares label by label and segment by segment', () => {
    const label = fc.constantFrom('a', 'b', 'example', 'com', 'evil');
    const labels = fc.array(label, { minLength: 1, maxLength: 4 });
    const segments = fc.array(fc.constantFrom('a', 'b', '.example.com', 'com'), { maxLength: 3 });
    fc.assert(
      fc.property(labels, labels, segments, fc.boolean(), (wanted, own, path, open) => {
        const pattern = `https://${open ? '*.' : ''}${wanted.join('.')}/*`;
        const expected = open
          ? own.length > wanted.length && own.join('.').endsWith(`.${wanted.join('.')}`)
          : own.join('.') === wanted.join('.');
        expect(matchesAddress(pattern, `https://${own.join('.')}/${path.join('/')}`)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });
});

/** What the words of the documentation say, tried in every way: slow, and plain to see. */
function pathByWords(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '*' && rest.length === 0) return path.length > 0;
  if (first === '**') return path.some((_, i) => pathByWords(rest, path.slice(i))) || pathByWords(rest, []);
  const [own, ...others] = path;
  return own !== undefined && nameByWords(Array.from(first), Array.from(own)) && pathByWords(rest, others);
}

function nameByWords(pattern: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return name.length === 0;
  if (first === '*') return nameByWords(rest, name) || (name.length > 0 && nameByWords(pattern, name.slice(1)));
  return name.length > 0 && (first === '?' || first === name[0]) && nameByWords(rest, name.slice(1));
}

describe('[XS6] a rule that allows a path goes by segments', () => {
  it.each([
    ['src/*', 'src/a/b.ts', true],
    ['src/*', 'src/../.env', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/deep/er/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['*/package.json', 'a/b/package.json', false],
    ['*', 'a/b', true],
  ])('%s, %s: %s', (pattern, path, allowed) => {
    expect(verdict(`write_file:path=${pattern}`, 'write_file', { path, content: 'x' })).toBe(allowed ? 'allow' : 'ask');
  });

  it('agrees with one that tries every way', () => {
    const part = fc.constantFrom('a', 'b', 'ab', '*', '**', 'a*', '*b', '?');
    const own = fc.constantFrom('a', 'b', 'ab', 'ba');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(own, { minLength: 1, maxLength: 5 }),
        (pattern, path) => {
          expect(matchesPath(pattern.join('/'), path.join('/'))).toBe(pathByWords(pattern, path));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('[XS6] a rule that allows a command goes by words', () => {
  it.each([
    ['git log*', ['git', 'log'], true],
    ['git log*', ['git', 'log', '--stat', '-3'], true],
    ['git log*', ['git', 'logx'], false],
    ['git log*', ['git', 'log', '--output=F'], false],
    ['git log*', ['git', 'log', '--output', 'F'], false],
    ['git log*', ['git', 'log', '--outp=F'], false],
    ['git log *', ['git', 'log', '-p'], true],
    ['git log --output=*', ['git', 'log', '--output=notes'], true],
    ['git *', ['git', '-c', 'core.pager=x', 'log'], false],
    ['find . *', ['find', '.', '-name', 'x'], true],
    ['find . *', ['find', '.', '-exec', 'rm', '{}', ';'], false],
    ['find . *', ['find', '.', '-delete'], false],
    ['sort *', ['sort', '-ofile', 'a'], false],
    ['sort *', ['sort', '-uo', 'file', 'a'], false],
    ['sort *', ['sort', '-uk2', '-t:', 'a'], true],
    ['sed *', ['sed', '-ni', 'p', 'a'], false],
    ['curl *', ['curl', '-sSfL', 'https://a.example'], true],
    ['curl *', ['curl', '-sSLo', 'file', 'https://a.example'], false],
    ['rsync *', ['rsync', '-ave', 'sh', 'a', 'b'], false],
    ['tar *', ['tar', '-xzf', 'a.tgz'], true],
    ['tar *', ['tar', '-cIsh', 'a'], false],
    ['tar *', ['tar', 'cIf', 'sh', 'a'], false],
    ['tar *', ['tar', 'tf', 'I'], true],
    ['git grep *', ['git', 'grep', '-nOsh', 'x'], false],
    ['go test *', ['go', 'test', '-count=1', '-v'], true],
    ['go test *', ['go', 'test', '-exec=sh'], false],
    ['cat src/*', ['cat', 'src/a.ts'], true],
    ['cat src/*', ['cat', 'src/a.ts', '/etc/passwd'], false],
    ['cat src/*', ['cat', 'src/../.env'], false],
    ['npm run test', ['npm', 'run', 'test', '--', 'x'], false],
    ["echo 'a b' *", ['echo', 'a b', 'c'], true],
    ["echo 'a b' *", ['echo', 'a', 'b', 'c'], false],
    ['*', ['anything', '--output=x'], true],
  ])('%s, %j: %s', (pattern, argv, allowed) => {
    expect(verdict(`shell:cmd=${pattern}`, 'shell', { argv })).toBe(allowed ? 'allow' : 'ask');
  });

  it('agrees with one that tries every way', () => {
    const part = fc.constantFrom('a', 'b', '*', 'a*', '*b', 'ab');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(fc.constantFrom('a', 'b', 'ab', 'aa'), { minLength: 1, maxLength: 5 }),
        (parts, words) => {
          const last = parts.at(-1) ?? '';
          const open = last === '*' || last === 'a*';
          const fixed = last === '*' ? parts.slice(0, -1) : last === 'a*' ? [...parts.slice(0, -1), 'a'] : parts;
          const expected =
            (open ? words.length >= fixed.length : words.length === fixed.length) &&
            fixed.every((one, i) => nameByWords(Array.from(one), Array.from(words[i] ?? '')));
          expect(matchesCommand(parts.join(' '), words)).toBe(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('[XS6] a pipeline that allows a program which runs anything', () => {
  it.each([
    ['shell:cmd=python3 *', true],
    ['shell:cmd=sh -c *', true],
    ['shell:cmd=env*', true],
    ['shell:cmd=python3 tools/check.py', false],
    ['shell:cmd=git log*', false],
  ])('%s is warned of: %s', async (rule, warned) => {
    const text = `agents: { root: { model: mock/echo, description: d, instruction: i } }
permissions: { allow: ["${rule}"] }
workflow: [{ type: agent, name: root }]
`;
    const { problems } = await loadPipelineText(text, { cwd: '/project' });
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual(
      warned ? [['allows-everything', 'warning']] : [],
    );
  });
});
