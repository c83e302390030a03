import { arch, platform } from 'node:process';
import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { countedRun } from './support/counted-agent.js';
import { outputOf, runAgent } from './support/run-agent.js';

const SAID = [{ text: 'Done.' }];

async function systemOf(about: AgentSpec['about'], more: Partial<AgentSpec> = {}): Promise<string | undefined> {
  const spec = { ...more, ...(about === undefined ? {} : { about }) };
  const { step } = await countedRun({ said: SAID, spec, cwd: '/project' });
  return step.of('prompt')[0]?.system;
}

describe('what the system prompt says of the surroundings', () => {
  const ENVIRONMENT = `Working directory: /project\nOperating system: ${platform}\nArchitecture: ${arch}`;

  it.each<readonly [string, AgentSpec['about'], string]>([
    ['nothing unless it is asked for', undefined, ''],
    ['the date, in UTC', ['date'], "\n\nToday's date: 2026-01-02 (UTC)"],
    ['where it runs', ['environment'], `\n\n${ENVIRONMENT}`],
    ['both, the date first', ['environment', 'date'], `\n\nToday's date: 2026-01-02 (UTC)\n\n${ENVIRONMENT}`],
  ])('%s', async (_, about, expected) => {
    expect(await systemOf(about)).toBe(`You review code.${expected}`);
  });

  it('stands behind the instructions and skills', async () => {
    const system = await systemOf(['date'], { skills: [{ name: 'tidy', text: 'Be tidy.' }] });
    expect(system).toMatch(/^You review code\.\n\nSkills[^]*Be tidy\.[^]*\n\nToday's date: 2026-01-02 \(UTC\)$/);
  });

  it('is what it was when the step began, whenever and wherever it goes on', async () => {
    const spec: Partial<AgentSpec> = { about: ['date', 'environment'] };
    const first = await countedRun({ said: SAID, spec, cwd: '/project' });
    const record = new Map([...first.step.record].filter(([name]) => name === 'open'));
    const tomorrow = Date.UTC(2026, 0, 3, 3, 4, 5);
    const later = await countedRun({
      said: SAID,
      spec,
      cwd: '/elsewhere',
      replay: record,
      before: (step) => Object.assign(step, { now: () => tomorrow }),
    });
    expect(later.counts.turns).toEqual([1]);
    expect(later.step.of('prompt')[0]?.system).toBe(first.step.of('prompt')[0]?.system);
  });

  it('a model is sent it', async () => {
    const { counts } = await countedRun({ said: SAID, spec: { about: ['date'] } });
    expect(counts.requests[0]?.messages[0]).toEqual({
      role: 'system',
      text: "You review code.\n\nToday's date: 2026-01-02 (UTC)",
    });
  });
});

describe('an empty answer', () => {
  it('is an output where that is allowed, with a warning', async () => {
    const { result, step } = await countedRun({ said: [{ text: ' \n' }], spec: { allowEmpty: true } });
    expect(outputOf(result)).toBe('');
    expect(step.of('warning')).toEqual([
      { kind: 'warning', code: 'empty-answer', message: 'own/m gave agent "reviewer" an empty answer' },
    ]);
  });

  it('is a failure otherwise', async () => {
    const { result } = await countedRun({ said: [{ text: '' }] });
    expect(result).toMatchObject({ type: 'failed', error: { code: 'SKEIN_MODEL_EMPTY' } });
  });

  it('is a failure also then when the model was cut off, or a filter stopped it', async () => {
    for (const reason of ['length', 'content-filter'] as const) {
      const model = {
        id: 'own/m',
        async *stream() {
          yield { type: 'finish' as const, reason, usage: { inputTokens: 1, outputTokens: 1 } };
        },
      };
      const { result } = await runAgent({
        spec: { models: ['own/m'], allowEmpty: true },
        models: { providers: { own: () => model } },
      });
      expect([reason, result]).toMatchObject([reason, { type: 'failed', error: { code: 'SKEIN_MODEL_EMPTY' } }]);
    }
  });

  it('of an agent with a schema is asked for once more, and then fails', async () => {
    const spec = { allowEmpty: true, output: { schema: { type: 'object' } } };
    const { result, counts } = await countedRun({ said: [{ text: '' }, { text: '' }], spec });
    expect(counts.turns).toEqual([1, 2]);
    expect(result).toMatchObject({ type: 'failed', error: { code: 'SKEIN_OUTPUT_INVALID' } });
  });

  it('that comes after a schema was asked for again can still be mended', async () => {
    const spec = { allowEmpty: true, output: { schema: { type: 'object' } } };
    const { result } = await countedRun({ said: [{ text: '' }, { text: '{"a":1}' }], spec });
    expect(outputOf(result)).toEqual({ a: 1 });
  });
});
