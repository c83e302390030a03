import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../src/plan/checks.js';
import type { TaskNode } from '../../src/plan/plan.js';
import { BUILT_IN, BUILT_IN_TOOLS } from '../../src/plan/built-in-tools.js';
import { NOTATIONS, loadSteps, problemsOf } from './support/both.js';

/** The line of the first step. */
const FIRST = { dag: 3, pipeline: 2 } as const;

describe.each(NOTATIONS)('arguments of a built-in tool that a step of a %s calls', (notation) => {
  const line = FIRST[notation];
  const told = async (call: string): Promise<readonly string[]> => {
    const { workflow } = await loadSteps(notation, `  - {id: a, ${call}}\n`);
    return workflow.problems.map(({ code, message, hint }) => `${code}: ${message} | ${hint ?? ''}`);
  };

  it('[unknown-argument] are known before anything runs, each at its own place', async () => {
    expect(await told('tool: read_file, input: { path: x, ofset: 2 }')).toEqual([
      `unknown-argument: step "a" gives read_file the argument "ofset", which it does not have | did you mean "offset"?`,
    ]);
    expect(await problemsOf(notation, '  - {id: a, tool: read_file, input: { path: x, ofset: 2 }}\n')).toEqual([
      `${line}:48 error unknown-argument`,
    ]);
    expect((await told('tool: glob, input: { pattern: x, deep: true }'))[0]).toContain(
      '| its arguments are: pattern, path',
    );
  });

  it('[unknown-argument] the same argument under two names is one too many', async () => {
    expect((await told('tool: read_file, input: { path: x, file_path: y }'))[0]).toContain(
      'gives read_file the argument "file_path", which it has as "path" already',
    );
    expect(await told('tool: read_file, input: { file_path: y }')).toEqual([]);
  });

  it('[unknown-argument] [missing-argument] also in the items of a list', async () => {
    const edits = '[{ old_text: a, new_text: b }, { old_txt: a, new_text: b }]';
    const found = await told(`tool: edit_file, input: { path: x, edits: ${edits} }`);
    expect(found).toEqual([
      expect.stringMatching(/^unknown-argument: .*"old_txt", which it does not have \| did you mean "old_text"\?$/),
    ]);
    const lacking = '[{ old_text: a, new_text: b }, { old_text: a }]';
    const places = await problemsOf(notation, `  - {id: a, tool: edit_file, input: { path: x, edits: ${lacking} }}\n`);
    expect(places).toEqual([`${line}:86 error missing-argument`]);
  });

  it('[missing-argument] what a tool needs must be given', async () => {
    expect(await told('tool: write_file, input: { path: x }')).toEqual([
      `missing-argument: step "a" does not give write_file the argument "content", which it needs | add content to its input`,
    ]);
    expect(await problemsOf(notation, '  - {id: a, tool: fetch}\n')).toEqual([`${line}:19 error missing-argument`]);
  });

  it('[bad-argument] a value that is written out is of the type of its argument, and so is a text with references', async () => {
    const value = notation === 'dag' ? '{{ steps.b.output }}' : '{{ $prompt }}';
    expect((await told('tool: read_file, input: { path: x, limit: many }'))[0]).toMatch(
      /^bad-argument: .* gives read_file a wrong "limit": .*integer/,
    );
    expect((await told('tool: fetch, input: { url: x, method: PUT }'))[0]).toContain('bad-argument');
    expect((await told('tool: read_file, input: { path: [x] }'))[0]).toContain('bad-argument');
    const after = notation === 'dag' ? 'depends_on: [b], ' : '';
    const reading = (limit: string): string =>
      `  - {id: b, run: [ls]}\n  - {id: a, ${after}tool: read_file, input: { path: "${value}", limit: "${limit}" }}\n`;
    expect(await problemsOf(notation, reading(value))).toEqual([]);
    expect(await problemsOf(notation, reading(`${value}0`))).toEqual([expect.stringContaining('error bad-argument')]);
  });

  it('of a tool of a server are only known when it runs', async () => {
    const head = 'mcps: { tickets: { command: node } }\n';
    expect(await problemsOf(notation, '  - {id: a, tool: tickets/find, input: { anything: 1 }}\n', head)).toEqual([]);
  });
});

describe('arguments of built-in tools', () => {
  it('are checked in plans of any notation, under each name of the tool', () => {
    const node = (name: string): TaskNode => ({
      kind: 'task',
      id: 'a',
      output: 'a',
      tool: { name, input: { object: { zzz: { channel: 'a' } } } },
    });
    for (const tool of BUILT_IN_TOOLS) {
      for (const name of [tool, ...BUILT_IN[tool].aliases]) {
        const plan = {
          format: 1 as const,
          name: 'p',
          inputs: [],
          channels: [{ name: 'a' }],
          nodes: [node(name)],
          edges: [],
          routes: [],
        };
        const problems = checkPlan(plan).filter(({ code }) => code.endsWith('-argument'));
        expect(problems[0], name).toMatchObject({ code: 'unknown-argument', path: 'nodes[0].tool.input.zzz' });
        expect(problems.slice(1).map(({ code }) => code)).toEqual(
          BUILT_IN[tool].required.map(() => 'missing-argument'),
        );
      }
    }
  });
});
