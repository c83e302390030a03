import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import { dag, pipeline, ran, step, wrong } from './loops.js';

const agent = (id: string, more = ''): string =>
  `{ id: ${id}, type: agent, name: w, prompt: "${id}?"${more === '' ? '' : `, ${more}`} }`;
const FAILED = '{ id: stop, type: end, status: failed, reason: "because {{ $steps.a.output }}" }';
/** What ran, by path. */
const paths = (asked: readonly string[]): readonly string[] => asked.map((each) => each.split(':')[0] ?? '');

describe('[addition 9] end in a pipeline', () => {
  const gate = (end: string): string =>
    pipeline(
      agent('a'),
      `{ type: condition, condition: '{{ $steps.a.output == "bad" }}', true: [${end}] }`,
      agent('b'),
    );

  it('ends the file as failed with its reason, or as succeeded, and gives the outputs so far', async () => {
    const failed = await ran(gate(FAILED), { a: ['bad'] });
    expect([failed.outcome, failed.error?.code, failed.error?.message]).toEqual([
      'failed',
      'SKEIN_ENDED',
      'because bad',
    ]);
    expect(failed.state['steps.a.output']).toBe('bad');
    const ended = await ran(gate('{ type: end }'), { a: ['bad'] });
    expect([ended.outcome, paths(ended.asked), ended.state['steps.a.output']]).toEqual(['succeeded', ['a'], 'bad']);
    const other = await ran(gate(FAILED), { a: ['good'] });
    expect([other.outcome, paths(other.asked)]).toEqual(['succeeded', ['a', 'b']]);
  });

  it.each([
    [
      'a parallel block',
      '{ id: in, type: parallel, on_error: continue, retry: { max_attempts: 2, initial_delay: 1ms }, steps: [END, { id: x, type: agent, name: w, prompt: "x?" }] }',
    ],
    ['a sequence', '{ id: in, type: sequence, on_error: continue, steps: [END] }'],
    [
      'a loop',
      '{ id: in, type: loop, until: { line: DONE }, max_rounds: 3, on_error: continue, steps: [END, { id: y, type: agent, name: w }] }',
    ],
    [
      'a map',
      '{ id: in, type: map, over: $steps.list.output.all, on_item_error: continue, on_error: continue, steps: [{ id: y, type: agent, name: w }, END, { id: z, type: agent, name: w }] }',
    ],
  ])('ends the file from inside of %s, and no on_error or retry there catches it', async (_, block) => {
    const held = block.replace(
      'END',
      `{ type: condition, condition: '{{ $steps.a.output == "bad" }}', true: [${FAILED}] }`,
    );
    const text = pipeline(agent('a'), '{ id: list, type: agent, name: l }', held, agent('b'));
    const says = { a: ['bad'], list: ['{"all": [1, 2]}'] };
    const { outcome, error, asked } = await ran(text, says);
    expect([outcome, error?.code, error?.message]).toEqual(['failed', 'SKEIN_ENDED', 'because bad']);
    expect(paths(asked)).not.toContain('b');
  });

  it('ends a called file only: well, or as a failure of the step that called it', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'skein-ends-'));
    const called = (status: string): string =>
      pipeline(
        agent('in'),
        `{ type: condition, condition: '{{ $steps.in.output == "x" }}', true: [{ type: end, status: ${status}, reason: "no" }] }`,
        agent('never'),
      );
    await writeFile(join(cwd, 'well.yaml'), called('succeeded'));
    await writeFile(join(cwd, 'badly.yaml'), called('failed'));
    const caller = (file: string, more = ''): string =>
      pipeline(`{ id: c, type: call, file: ${file}${more} }`, agent('b', 'on_error: fail'));
    await writeFile(join(cwd, 'one.yaml'), caller('well.yaml'));
    await writeFile(join(cwd, 'two.yaml'), caller('badly.yaml'));
    const retry = ', retry: { max_attempts: 2, initial_delay: 1ms }, on_error: continue';
    await writeFile(join(cwd, 'three.yaml'), caller('badly.yaml', retry));
    const says = { in: ['x'] };
    const one = await ran('one.yaml', says, {}, cwd);
    expect([one.outcome, paths(one.asked)]).toEqual(['succeeded', ['c/in', 'b']]);
    const two = await ran('two.yaml', says, {}, cwd);
    expect([two.outcome, two.error?.code, paths(two.asked)]).toEqual(['failed', 'SKEIN_ENDED', ['c/in']]);
    const three = await ran('three.yaml', says, {}, cwd);
    expect([three.outcome, paths(three.asked)]).toEqual(['degraded', ['c/in', 'b']]);
    await rm(cwd, { recursive: true });
  });

  it('[unreachable-step] is reported for what stands behind it, however deep the end stands', async () => {
    const behind = (first: string) => wrong(pipeline(agent('a'), first, agent('b')));
    const end = '{ type: end }';
    for (const first of [
      end,
      `{ type: sequence, steps: [${agent('x')}, ${end}] }`,
      `{ type: parallel, steps: [${agent('x')}, ${end}] }`,
      `{ type: loop, until: { line: DONE }, max_rounds: 2, steps: [${agent('x')}, { type: condition, condition: "{{ $steps.x.output }}", true: [${end}], false: [${end}] }] }`,
    ])
      expect((await behind(first)).filter((each) => each.startsWith('unreachable-step')).length, first).toBe(1);
    expect(await behind(`{ type: sequence, on_error: continue, steps: [${agent('x')}, ${end}] }`)).toEqual([]);
    expect(await behind(`{ type: map, over: $steps.a.output, steps: [${agent('x')}] }`)).toEqual([]);
  });

  it('takes place when its condition holds, and what stands behind it runs otherwise', async () => {
    const end = `{ type: end, when: '{{ $steps.a.output == "bad" }}' }`;
    const block = pipeline(agent('a'), `{ type: sequence, steps: [${end}] }`, agent('b'));
    for (const text of [pipeline(agent('a'), end, agent('b')), block]) {
      expect(paths((await ran(text, { a: ['bad'] })).asked)).toEqual(['a']);
      expect(paths((await ran(text, { a: ['good'] })).asked)).toEqual(['a', 'b']);
    }
  });

  it('ends a loop of jumps, so that the loop is not endless', async () => {
    const text = pipeline(
      agent('a'),
      `{ type: condition, condition: '{{ $steps.a.output == "done" }}', true: [{ type: end }] }`,
      '{ goto: a }',
    );
    expect(await wrong(text)).toEqual([]);
    const { outcome, asked } = await ran(text, { a: ['more', 'done'] });
    expect([outcome, asked.length]).toEqual(['succeeded', 2]);
  });

  it('gives nothing that could be read, and takes no other word than its own', async () => {
    const [read = ''] = await wrong(
      pipeline(
        agent('a'),
        `{ type: condition, condition: "{{ $steps.a.output }}", true: [{ id: s, type: end }] }`,
        agent('b', 'timeout: 5s').replace('b?', '{{ $steps.s.output }}'),
      ),
    );
    expect(read).toContain('missing-output');
    expect((await wrong(pipeline('{ type: end, status: maybe }'))).join()).toContain('unknown-value');
    expect((await wrong(pipeline('{ type: end, on_error: continue }'))).join()).toContain('unknown-key');
  });
});

describe('[addition 9] end in a DAG workflow', () => {
  const text = dag(
    step('a', 'a?'),
    step('slow', 'slow?', 'depends_on: [a]'),
    '{ id: stop, type: end, status: failed, reason: "because {{steps.a.output}}", depends_on: [a], condition: { step: a, equals: bad } }',
    step('b', 'b?', 'depends_on: [stop, slow]'),
  );

  it('ends the file where its condition holds, and is skipped elsewhere', async () => {
    const failed = await ran(text, { a: ['bad'] });
    expect([failed.outcome, failed.error?.message, failed.state['steps.a.output']]).toEqual([
      'failed',
      'because bad',
      'bad',
    ]);
    expect(paths(failed.asked)).not.toContain('b');
    const other = await ran(text, { a: ['good'] });
    expect([other.outcome, paths(other.asked)]).toEqual(['succeeded', ['a', 'slow', 'b']]);
  });

  it('ends the file from inside of a loop, and no on_error there catches it', async () => {
    const end = `{ id: stop, type: end, depends_on: [x], condition: { step: x, contains: bad } }`;
    const loop = `{ id: l, type: loop, until: { line: DONE }, max_rounds: 3, on_error: continue, retry_count: 1, steps: [${step('x', 'x?')}, ${end}, ${step('y', 'y?', 'depends_on: [stop]')}] }`;
    const { outcome, asked, state } = await ran(dag(loop, step('b', 'b?', 'depends_on: [l]')), {
      x: ['fine', 'bad'],
    });
    expect([outcome, paths(asked)]).toEqual(['succeeded', ['l#1/x', 'l#1/y', 'l#2/x']]);
    expect(state['steps.l.outputs.x.output']).toBe('bad');
  });

  it('[unreachable-step] is reported for what depends on an end without a condition', async () => {
    const end = '{ id: stop, type: end }';
    expect(await wrong(dag(step('a', 'a?'), end, step('b', 'b?', 'depends_on: [stop]')))).toEqual([
      'unreachable-step: step "b" can never run: "stop", which it depends on, ends the workflow',
    ]);
    const loop = `{ id: l, type: loop, until: { line: DONE }, max_rounds: 3, steps: [${step('x', 'x?')}, ${end}] }`;
    expect((await wrong(dag(loop, step('b', 'b?', 'depends_on: [l]')))).join()).toContain('unreachable-step');
  });

  it('[missing-output] is reported where its output is read', async () => {
    const end = '{ id: stop, type: end, depends_on: [a], condition: { step: a, equals: x } }';
    const readers = [
      '"{{steps.stop.output}}"',
      '"go", condition: { cel: "steps.stop.output == \'x\'" }',
      '"go", condition: { step: stop, equals: x }',
    ];
    for (const prompt of readers) {
      const reader = `{ id: b, agent: w, depends_on: [stop], prompt: ${prompt} }`;
      expect((await wrong(dag(step('a', 'a?'), end, reader))).join(), prompt).toContain('missing-output');
    }
    const all = `${dag(step('a', 'a?'), end)}output: { steps: [stop] }\n`;
    expect((await wrong(all)).join()).toContain('missing-output');
  });
});

describe('[addition 9] a run that has ended', () => {
  const text = dag(
    step('a', 'a?'),
    step('slow', 'slow?'),
    '{ id: stop, type: end, status: failed, reason: no, depends_on: [a] }',
  );

  it('stays ended on a resume: nothing runs, and what was cut off is not begun again', async () => {
    const store = memoryStore();
    const never = new Promise<string>(() => undefined);
    const first = await ran(text, { slow: [never as never] }, { store });
    expect([first.outcome, first.census.cancelled]).toEqual(['failed', 1]);
    const again = await ran(text, {}, { store, resume: first.runId });
    expect([again.outcome, again.error?.code, again.asked]).toEqual(['failed', 'SKEIN_ENDED', []]);
    expect([again.ran, again.reused]).toEqual([0, 1]);
  });

  it('goes another way in a fork', async () => {
    const store = memoryStore();
    const first = await ran(text, {}, { store });
    const forked = await ran(dag(step('a', 'a?'), step('slow', 'slow?')), {}, { store, fork: { run: first.runId } });
    expect(forked.outcome).toBe('succeeded');
    expect(paths(forked.asked)).not.toContain('a');
  });

  it('is drawn and planned as an end', async () => {
    const { plan } = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
    const { toMermaid } = await import('skein');
    expect(plan === undefined ? '' : toMermaid(plan)).toContain('ends as failed');
  });
});
