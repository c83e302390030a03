import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTATIONS, runSteps } from './support/both.js';

const HEAD = 'mcps: { tickets: { command: no-such-server } }\n';
const TOUCH = `run: [node, -e, "require('node:fs').writeFileSync('made', '')", "a b"]`;

describe.each(NOTATIONS)('a step without a model of a %s, in a run without models', (notation) => {
  it('starts nothing: it gives its command line, or its call', async () => {
    const steps = `
  - { id: make, ${TOUCH} }
  - { id: all, run: [ls, -l], result: all }
  - { id: find, tool: tickets/find, input: { text: x } }
`;
    const { outcome, output, cwd } = await runSteps(notation, steps, { head: HEAD, models: { env: {}, mock: true } });
    expect(outcome).toBe('succeeded');
    expect(output('make')).toBe(`node -e "require('node:fs').writeFileSync('made', '')" "a b"`);
    expect(output('all')).toEqual({ exit_code: 0, stdout: 'ls -l', stderr: '' });
    expect(output('find')).toBe('mcp_tickets_find {"text":"x"}');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  it('gives what a script says, in the form of the step, one answer after the other', async () => {
    const script = `
rules:
  - step: make
    answers:
      - error: { code: SKEIN_EXIT, message: no }
      - text: made
  - step: all
    answer: { json: { exit_code: 2, stderr: bad } }
  - step: find
    answer: { json: [{ id: 7 }] }
`;
    const again = notation === 'dag' ? 'on_error: retry, retry_count: 1' : 'retry: { max_attempts: 1 }';
    const steps = `
  - { id: make, ${TOUCH}, ${again} }
  - { id: all, run: [ls, -l], result: all }
  - { id: find, tool: tickets/find, input: { text: x }, schema: [{ id: integer }] }
`.replace(', schema: [{ id: integer }]', ', schema: { type: array }');
    const { outcome, output, error } = await runSteps(notation, steps, {
      head: HEAD,
      files: { 'script.yaml': script },
      models: { env: {}, script: 'script.yaml' },
    });
    expect([outcome, error]).toEqual(['succeeded', undefined]);
    expect(output('make')).toBe('made');
    expect(output('all')).toEqual({ exit_code: 2, stdout: '', stderr: 'bad' });
    expect(output('find')).toEqual([{ id: 7 }]);
  });

  it('makes its call where the script says real: true, and only there', async () => {
    const script = 'rules:\n  - step: make\n    real: true\n';
    const steps = `
  - { id: make, ${TOUCH} }
  - { id: other, run: [touch, other] }
`;
    const { outcome, output, cwd } = await runSteps(notation, steps, {
      files: { 'script.yaml': script },
      models: { env: { PATH: process.env['PATH'] ?? '' }, script: 'script.yaml' },
    });
    expect(outcome).toBe('succeeded');
    expect([existsSync(join(cwd, 'made')), existsSync(join(cwd, 'other'))]).toEqual([true, false]);
    expect([output('make'), output('other')]).toEqual(['', 'touch other']);
  });

  it('fails at the end where a strict script answers a step that did not run', async () => {
    const script = 'rules:\n  - step: gone\n    answer: x\n';
    const { outcome, error } = await runSteps(notation, '  - { id: only, run: [ls] }\n', {
      files: { 'script.yaml': script },
      models: { env: {}, script: 'script.yaml' },
    });
    expect(outcome).toBe('failed');
    expect(error?.message).toContain('rule 1 (line 2, step gone) was never used');
  });
});
