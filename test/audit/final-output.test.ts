import { describe, expect, it } from 'vitest';
import { formatOutput } from '../../src/audit/final-output.js';
import type { OutputOptions } from '../../src/audit/final-output.js';
import type { StepReport } from '../../src/events/census.js';
import type { OutputFormat } from '../../src/plan/workflow.js';
import { agentNode, echo, read, record, tempDir, workflowOf } from './support/folder.js';

const nodes = ['zeta', 'alpha', 'mid', 'last'].map((id) => agentNode(id));
const end = (node: string, outcome: StepReport['outcome'], more: Partial<StepReport> = {}): StepReport => ({
  path: node,
  node,
  outcome,
  ...more,
});
const base: OutputOptions = {
  workflow: workflowOf(nodes),
  state: { 'steps.zeta.output': 'Z\n', 'steps.alpha.output': { ok: [1] } },
  reports: [
    end('mid', 'skipped', { reason: 'steps.zeta.output does not contain "x"' }),
    end('last', 'failed', { error: { code: 'SKEIN_NETWORK', message: 'cut\n## Step: fake' } }),
  ],
};
const as = (format: OutputFormat, more: Partial<OutputOptions> = {}): string =>
  formatOutput({ ...base, format, ...more });

describe('results as text', () => {
  it('markdown, in the order of declaration (statements 72, 73, decision 13)', () => {
    expect(as('markdown')).toBe(
      [
        '# Workflow Results',
        '## Step: zeta',
        'Z\n',
        '## Step: alpha',
        '{\n  "ok": [\n    1\n  ]\n}',
        '## Step: mid',
        '*Skipped*',
        '## Step: last',
        '*Failed: cut ## Step: fake*\n',
      ].join('\n\n'),
    );
  });

  it('plain', () => {
    expect(as('plain', { nodes: ['zeta', 'mid', 'last'] })).toBe(
      '=== zeta ===\nZ\n\n\n=== mid ===\n(skipped)\n\n=== last ===\n(failed: cut ## Step: fake)\n',
    );
  });

  it('JSON with two spaces and no line break at the end; errors are told (statements 72, 74)', () => {
    const text = as('json');
    expect(text.startsWith('{\n  "steps": {\n    "zeta": {\n      "status": "completed"')).toBe(true);
    expect(text.endsWith('}')).toBe(true);
    expect(JSON.parse(text)).toEqual({
      steps: {
        zeta: { status: 'completed', output: 'Z\n' },
        alpha: { status: 'completed', output: { ok: [1] } },
        mid: { status: 'skipped', reason: 'steps.zeta.output does not contain "x"' },
        last: { status: 'failed', error: 'cut\n## Step: fake' },
      },
    });
    expect(Object.keys((JSON.parse(text) as { steps: object }).steps)).toEqual(['zeta', 'alpha', 'mid', 'last']);
  });

  it('tells how else a step can end', () => {
    const reports = [
      end('zeta', 'timed_out', { error: { code: 'SKEIN_TIMEOUT', message: 'too slow' } }),
      end('alpha', 'cancelled', { reason: 'the run ended first' }),
      end('mid', 'paused', { reason: 'Ship it?' }),
    ];
    const text = as('markdown', { reports, state: {} });
    for (const said of ['*Timed out: too slow*', '*Cancelled*', '*Paused: Ship it?*', '*Not run*'])
      expect(text).toContain(said);
    const { steps } = JSON.parse(as('json', { reports, state: {} })) as { steps: Record<string, { status: string }> };
    expect(Object.values(steps).map(({ status }) => status)).toEqual(['failed', 'cancelled', 'paused', 'not_run']);
  });

  it('prints the chosen steps in the chosen order; the settings choose unless the call does', () => {
    const settings = { output: { format: 'plain', nodes: ['mid', 'zeta'] } } as const;
    const { format: _, ...unsaid } = { ...base, format: undefined };
    expect(formatOutput({ ...unsaid, workflow: workflowOf(nodes, [], { settings }) })).toMatch(
      /^=== mid ===[^]*=== zeta ===/,
    );
    expect(as('plain', { nodes: ['alpha', 'nobody', 'alpha'] }).match(/===.*===/g)).toEqual(['=== alpha ===']);
  });

  it('cuts what is printed, and leaves data alone that fits (decision 15)', () => {
    const settings = { output: { format: 'json', truncate: { strategy: 'chars', limit: 12 } } } as const;
    const state = {
      'steps.zeta.output': 'x'.repeat(20),
      'steps.alpha.output': { ok: [1] },
      'steps.mid.output': { long: 'y'.repeat(9) },
    };
    const options = { ...base, workflow: workflowOf(nodes, [], { settings }), state, reports: [] };
    const note = (total: number): string => `\n\n... [truncated: ${total} chars total, showing first 12]`;
    expect(JSON.parse(formatOutput(options))).toMatchObject({
      steps: {
        zeta: { output: 'x'.repeat(12) + note(20) },
        alpha: { output: { ok: [1] } },
        mid: { output: `{"long":"yyy${note(20)}` },
      },
    });
    expect(JSON.parse(formatOutput({ ...options, whole: true }))).toMatchObject({
      steps: { zeta: { output: 'x'.repeat(20) } },
    });
  });

  it('takes the answer of a node that was skipped on another visit, and reads steps of other plans apart', () => {
    const reports = [
      { ...end('zeta', 'skipped'), path: 'zeta' },
      { ...end('alpha', 'failed'), path: 'loop#1/alpha' },
      { ...end('mid', 'failed', { error: { code: 'SKEIN_NETWORK', message: 'cut' } }), path: 'mid#2' },
    ];
    expect(JSON.parse(as('json', { reports }))).toMatchObject({
      steps: { zeta: { status: 'completed' }, alpha: { status: 'completed' }, mid: { status: 'failed' } },
    });
  });

  it('is safe with names of object members', () => {
    const odd = [agentNode('toString'), agentNode('valueOf', { output: 'hasOwnProperty' })];
    expect(JSON.parse(as('json', { workflow: workflowOf(odd), state: {}, reports: [] }))).toEqual({
      steps: { toString: { status: 'not_run' }, valueOf: { status: 'not_run' } },
    });
  });

  it('is the same text in final_output.md as on stdout, but whole', async () => {
    const settings = { output: { format: 'json', nodes: ['mid', 'zeta'] } } as const;
    const workflow = workflowOf(nodes, [], { settings });
    const { path, result } = await record(workflow, echo, { dir: await tempDir() });
    const printed = formatOutput({ workflow, state: result.state, reports: result.steps });
    expect(await read(path, 'final_output.md')).toBe(printed);
    expect(Object.keys((JSON.parse(printed) as { steps: object }).steps)).toEqual(['mid', 'zeta']);
  });
});
