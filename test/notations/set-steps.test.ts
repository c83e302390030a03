import { describe, expect, it } from 'vitest';
import { memoryStore, readRun } from 'skein';
import { dag, pipeline, ran, step, wrong } from './loops.js';

const BOTH = {
  dag: (values: string, reads: string, more = '') =>
    `${dag(step('a', 'A', 'schema: { n: integer, list: [string] }'), `{ id: s, type: set, depends_on: [a], values: { ${values} }${more} }`, step('b', reads, 'depends_on: [s]'))}inputs: { sev: { default: high } }\n`,
  pipeline: (values: string, reads: string, more = '') =>
    `inputs: { sev: { default: high } }\n${pipeline(
      '{ id: a, type: agent, name: w, prompt: A, schema: { n: integer, list: [string] } }',
      `{ id: s, type: set, values: { ${dollars(values)} }${more} }`,
      `{ id: b, type: agent, name: w, prompt: "${dollars(reads)}" }`,
    )}`,
} as const;
const dollars = (text: string): string => text.replaceAll(/\b(steps|inputs)\./g, '$$$1.');
const SAID = { a: ['{"n":2,"list":["x","y"]}'] };
const VALUES = `urgent: "{{= inputs.sev in ['high'] }}", twice: "{{= steps.a.output.n * 2 }}", list: "{{ steps.a.output.list }}", slug: "{{ inputs.sev }}/{{ steps.a.output.n }}", deep: [1, { x: "{{ steps.a.output.n }}" }], none: "{{ steps.a.output.list.7? }}"`;

describe.each(Object.entries(BOTH))('[G7] [addition 6] a step of type set in a %s', (notation, file) => {
  const values = notation === 'dag' ? VALUES : VALUES.replace('list.7', 'list[7]');

  it('has one output with its values, of their own types', async () => {
    const { state, asked, outcome } = await ran(
      file(values, '{{ steps.s.output.slug }} {{ steps.s.output.list }}'),
      SAID,
    );
    expect([outcome, asked.at(-1)]).toEqual(['succeeded', 'b: high/2 ["x","y"]']);
    expect(state['steps.s.output']).toEqual({
      urgent: true,
      twice: 4,
      list: ['x', 'y'],
      slug: 'high/2',
      deep: [1, { x: 2 }],
    });
  });

  it('leaves no record: a resume and a fork make its values again, and nothing behind it runs again', async () => {
    const store = memoryStore();
    const text = file(values, '{{ steps.s.output.slug }}');
    const first = await ran(text, SAID, { store });
    expect([first.ran, first.census.succeeded]).toEqual([2, 3]);
    const recorded = readRun(store, first.runId);
    expect(JSON.stringify(recorded)).not.toContain('"urgent"');
    const again = await ran(text, {}, { store, resume: first.runId });
    const forked = await ran(text, {}, { store, fork: { run: first.runId } });
    expect([again.state['steps.s.output'], forked.state['steps.s.output']]).toEqual(
      [0, 1].map(() => first.state['steps.s.output']),
    );
    expect([forked.reused, forked.ran]).toEqual([2, 0]);
  });

  it('runs what reads it again when it is edited, and only that', async () => {
    const store = memoryStore();
    const first = await ran(file('x: "{{ steps.a.output.n }}"', '{{ steps.s.output.x }}'), SAID, { store });
    const edited = file('x: "{{= steps.a.output.n + 1 }}"', '{{ steps.s.output.x }}');
    const forked = await ran(edited, {}, { store, fork: { run: first.runId } });
    expect([forked.reused, forked.asked]).toEqual([1, ['b: 3']]);
  });

  it('carries the labels of what it has read', async () => {
    const text = file('x: "{{ inputs.sev }}", y: "{{ steps.a.output.n }}"', 'b');
    const { labels } = await ran(text, SAID, { untrusted: ['sev'] });
    expect(labels?.['steps.s.output']).toMatchObject({ level: 'untrusted', sources: ['input:sev'] });
    const trusted = await ran(file('y: "{{ steps.a.output.n }}"', 'b'), SAID, { untrusted: ['sev'] });
    expect(trusted.labels?.['steps.s.output']).toBeUndefined();
  });

  it('fails like any step, which the file may allow', async () => {
    const failed = await ran(file('x: "{{= 1 / 0 }}"', 'b'), SAID);
    expect([failed.outcome, failed.error?.code, failed.steps[0]?.path]).toEqual(['failed', 'SKEIN_TEMPLATE', 's']);
    const allowed = await ran(file('x: "{{= 1 / 0 }}"', 'b', ', on_error: continue'), SAID);
    expect([allowed.outcome, allowed.asked.at(-1)]).toEqual(['degraded', 'b: b']);
  });

  it.each([
    ['x: "{{ steps.s.output.x }}"', 'not-upstream', 'its own output'],
    ['x: "{{= steps.s.output }}"', 'not-upstream', 'its own output'],
    ['x: "{{= size( }}"', 'bad-expression', ''],
    ['x: "{{= steps.a.outptu }}"', 'unknown-member', ''],
    ['x: "{{ steps.a.output.m }}"', 'no-such-path', '"m"'],
    ['"a b": 1', 'bad-name', '"a b"'],
    ['', 'missing-values', 'values of step "s" is empty'],
  ])('{ %s } is wrong: [%s]', async (given, code, words) => {
    const found = (await wrong(file(given, 'b'))).join('\n');
    expect(found).toContain(`${code}: `);
    expect(found).toContain(words);
  });

  it('[no-such-path] a value that it does not make can not be read', async () => {
    expect((await wrong(file('x: 1', '{{ steps.s.output.y }}'))).join('\n')).toMatch(/no-such-path: .*"y"/);
  });

  it('[missing-values] [unknown-key] without values, or with keys of other steps, it is wrong', async () => {
    const bare = file('x: 1', 'b').replace('values: { x: 1 }', 'prompt: x');
    const found = (await wrong(bare)).join('\n');
    expect(found).toContain('missing-values: step "s" sets no values');
    expect(found).toContain('unknown-key: unknown key "prompt" in step "s"');
  });
});

describe('[addition 6] a step of type set', () => {
  it('takes no slot: it runs while all slots are taken', async () => {
    const file = `${dag(step('a', 'A'), '{ id: s, type: set, values: { x: 1 } }')}config: { max_concurrency: 1 }\n`;
    const order: string[] = [];
    await ran(file, {}, { listeners: [(event) => event.type === 'step.ended' && order.push(event.path)] });
    expect(order).toEqual(['s', 'a']);
  });

  it('works in loops, maps, blocks and branches of a pipeline', async () => {
    const file = pipeline(
      '{ id: p, type: agent, name: l, prompt: P }',
      '{ id: each, type: map, over: "{{ $steps.p.output.all }}", steps: [{ id: s, type: set, values: { x: "{{= $item + 1 }}" } }] }',
      '{ id: par, type: parallel, steps: [{ id: q, type: set, values: { n: "{{= size($steps.each.output) }}" } }] }',
      '{ id: again, type: loop, until: "{{ $steps.r.output.n >= 3 }}", max_rounds: 5, steps: [{ id: r, type: set, values: { n: "{{= $steps.r.output == \'\' ? 1 : 3 }}" } }] }',
      '{ id: z, type: agent, name: w, prompt: "{{ $steps.each.output }} {{ $steps.par.outputs.q.output.n }} {{ $steps.again.output.n }}", when: "{{ $steps.par.outputs.q.output.n == 2 }}" }',
    );
    const { outcome, asked } = await ran(file, { p: ['{"all":[1,2]}'] });
    expect([outcome, asked.at(-1)]).toEqual(['succeeded', 'z: [{"x":2},{"x":3}] 2 3']);
  });
});
