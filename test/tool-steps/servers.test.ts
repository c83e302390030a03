import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programOf } from '../programs.js';
import { NOTATIONS, runSteps } from './support/both.js';

const SERVER = await programOf(resolve(import.meta.dirname, '../agent/support/mcp-tool-server.ts'));
const HEAD = `mcps: { kit: { command: node, args: [${JSON.stringify(SERVER)}] } }\n`;

describe.each(NOTATIONS)('[addition 1] a step of a %s that calls a tool', (notation) => {
  const after = notation === 'dag' ? 'depends_on: [data], ' : '';

  it('calls one of a server, with values of their own types', async () => {
    const steps = `
  - { id: data, run: [node, -p, "JSON.stringify({ text: 'hello', list: [1, 2] })"] }
  - { id: said, ${after}tool: kit/echo, input: { text: "{{ $steps.data.output.text }}" }, effect: read }
`;
    const { outcome, output, error } = await runSteps(notation, steps, {
      head: HEAD,
      answer: () => Promise.resolve('allow'),
    });
    expect([outcome, error]).toEqual(['succeeded', undefined]);
    expect(output('said')).toContain('hello');
  });

  it('calls a built-in one, which reads the project and needs no yes', async () => {
    const steps = '  - { id: found, tool: read_file, input: { path: notes.md } }\n';
    const { outcome, output } = await runSteps(notation, steps, { files: { 'notes.md': 'the loom\n' } });
    expect(outcome).toBe('succeeded');
    expect(output('found')).toContain('the loom');
  });

  it('fails where the server has no such tool', async () => {
    const { outcome, error } = await runSteps(notation, '  - { id: a, tool: kit/nothing }\n', { head: HEAD });
    expect(outcome).toBe('failed');
    expect(error).toMatchObject({
      code: 'SKEIN_TOOL_FAILED',
      message: 'there is no tool kit/nothing for the step "a"',
    });
  });

  it('fails with what the tool says is wrong', async () => {
    const { outcome, error } = await runSteps(notation, '  - { id: a, tool: kit/fail }\n', { head: HEAD });
    expect(outcome).toBe('failed');
    expect(error?.message).toContain('it went wrong');
  });

  it('fails where its input does not match what the tool takes', async () => {
    const limit = notation === 'dag' ? '{{ steps.say.output }}' : '{{ $steps.say.output }}';
    const reads = `  - { id: a, ${after.replace('data', 'say')}tool: read_file, input: { path: x, limit: "${limit}" } }\n`;
    const { error } = await runSteps(notation, `  - { id: say, run: [echo, many] }\n${reads}`);
    expect(error?.code).toBe('SKEIN_TOOL_FAILED');
    expect(error?.message).toContain('does not match its schema');
  });
});
