import { describe, expect, it } from 'vitest';
import type { GuardRules, GuardedCall } from '../../src/guard/decide.js';
import { decide } from '../../src/guard/decide.js';
import { loadDagText } from '../../src/notations/load-workflow.js';
import { declarationsOf } from '../../src/plan/declarations.js';

/** Words of models and servers that mean something in YAML, TypeScript or a terminal. */
const WORDS = [
  ['eslint', '*.ts'],
  ['git', 'checkout', '-'],
  ['head', '-5', '5', '1e3', '0x10', '.5', '1_000', '2026-01-01'],
  ['say', 'true', 'yes', 'null', '~', 'off', '', '.', '..', '---', '...'],
  ['a', 'b]], sends: [[', '"', "'", '\\', '#', '&x', '!t', '%', '@', '`', '|', '>', '{', '}', ': ', ', ', '?'],
  ['echo', 'two\nlines', '\u001b[2J', '\u2028', '\u0085', '\ufeff', '\u200b', '\t', '\u0000', '\u007f'],
  ['echo', '${HOME}', '{{pr}}', '$x'],
];

const untrusted = { level: 'untrusted', isPrivate: true, sources: ['a@tool#1.1'] } as const;
const of = (call: Partial<GuardedCall> & Pick<GuardedCall, 'effect'>): GuardedCall => ({
  tool: 'kit/do',
  input: {},
  seesPrivate: true,
  ...call,
});

const fileWith = (declare: string): string =>
  `name: t\n${declare}\nagents: { w: { inline: { prompt: x, tools: [] } } }\nsteps: [{ id: a, agent: w, prompt: p }]\n`;

/** What a file declares into which a person has copied a line of an explanation. */
async function pasted(declare: string): Promise<GuardRules> {
  const { plan, settings, problems } = await loadDagText(fileWith(declare), { cwd: '/project' });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const found = { ...declarationsOf(plan as object), ...declarationsOf(settings as object) };
  return { ...found, sandboxed: true };
}

describe('a declaration that an explanation shows, copied into a file', () => {
  it.each(WORDS)('allows this command and no other: %j', async (...argv) => {
    const call = of({ effect: 'run', tool: 'shell', argv });
    const asked = decide(call, untrusted, {});
    expect(asked.declare).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}/u);
    const rules = await pasted(asked.declare ?? '');
    expect(rules.commands).toEqual([argv]);
    expect(decide(call, untrusted, rules).kind).toBe('allow');
  });

  it('names the tool of a server whatever the server calls it', async () => {
    for (const name of ['do', 'a,b', 'a,fixed:{},free:[to]},{tool:b', 'a:b', 'null', '5', '"', '{}']) {
      const tool = `kit/${name}`;
      const asked = decide(of({ effect: 'send', tool, input: { to: 'x' } }), untrusted, {});
      const { sends } = await pasted((asked.declare ?? '').replace('...', 'x'));
      expect(sends).toEqual([{ tool, fixed: { to: 'x' }, free: [] }]);
    }
  });

  it('is refused, and declares nothing else, where the name of a tool can be no entry of sends', async () => {
    const tool = 'kit/a, fixed: {}, free: [to] }, { tool: kit/b';
    const { declare = '' } = decide(of({ effect: 'send', tool, input: { to: 'x' } }), untrusted, {});
    const { plan, problems } = await loadDagText(fileWith(declare.replace('...', 'x')), { cwd: '/project' });
    expect(problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
      `bad-send sends: ${tool} names no single tool`,
    ]);
    expect(plan).toBeUndefined();
  });

  it('names arguments whatever the model calls them', async () => {
    for (const name of ['true', '5', 'a b', 'a: b', 'x }, free: [', '*a', 'a\nb', '-', '\u001b[1m', 'é']) {
      const input = { [name]: 'x' };
      const asked = decide(of({ effect: 'send', input }), untrusted, {});
      const rules = await pasted((asked.declare ?? '').replace('...', 'x'));
      expect(rules.sends).toEqual([{ tool: 'kit/do', fixed: input, free: [] }]);
    }
  });

  it.each(['https://*.example.com/x', 'https://*/x', 'https://a@*.example.com', '//*.example.com'])(
    'declares no hosts but the one of the address: %s',
    async (url) => {
      const call = of({ effect: 'get', tool: 'fetch', input: { url } });
      const { declare = '' } = decide(call, untrusted, {});
      const { plan, problems } = await loadDagText(fileWith(declare), { cwd: '/project' });
      expect([plan, problems.map(({ code }) => code)]).toEqual([undefined, ['bad-host']]);
    },
  );
});
