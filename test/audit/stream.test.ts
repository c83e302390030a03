import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { StepContext } from '../../src/engine/ports/executor.js';
import {
  ASKED,
  agentNode,
  echo,
  filesIn,
  read,
  readJson,
  readLines,
  record,
  tempDir,
  workflowOf,
} from './support/folder.js';
import type { Script } from './support/folder.js';

const usage = { inputTokens: 1, outputTokens: 1 };
const cost = { usd: 0.5 };
const SPENT = { usage: { input_tokens: 1, output_tokens: 1 }, cost_usd: 0.5 };

function turn(step: StepContext, number: number, pieces: readonly string[], toolCalls = 0): void {
  step.note({ kind: 'model.started', turn: number, model: 'mock/first' });
  for (const text of pieces) step.note({ kind: 'model.delta', text });
  step.note({ kind: 'model.ended', turn: number, model: 'mock/first', text: pieces.join(''), usage, cost, toolCalls });
}

const types = (lines: readonly Record<string, unknown>[]): readonly unknown[] => lines.map(({ type }) => type);

describe('stream.jsonl', () => {
  it('holds what was said, called, asked and answered, in order, with the names of statement 71 (102)', async () => {
    const dir = await tempDir();
    const script: Script = (_, step) => {
      turn(step, 1, ["I'll analyze", ' the code'], 2);
      step.note({ kind: 'tool.started', id: '1', tool: 'grep', input: { query: 'password' } });
      step.note({ kind: 'tool.ended', id: '1', tool: 'grep', status: 'ok', output: 'a.ts:1' });
      step.note({ kind: 'tool.started', id: '2', tool: 'view', input: {} });
      step.note({ kind: 'tool.ended', id: '2', tool: 'view', status: 'error', output: 'Error: no path' });
      step.note({ ...ASKED, kind: 'question', question: 'Which one?', choices: ['a', 'b'] });
      step.note({ kind: 'answer', answer: 'b' });
      turn(step, 2, ['line\n', '"quoted"']);
      return { type: 'done', output: 'line\n"quoted"' };
    };
    const { path, problems } = await record(workflowOf([agentNode('a')]), script, { dir, streaming: true });
    expect(problems).toEqual([]);
    const lines = await readLines(path, 'steps/00_a/stream.jsonl');
    expect(lines.map(({ type, data }) => [type, data])).toEqual([
      ['assistant.turn_start', { turn: 1, model: 'mock/first' }],
      // The last word waits: it could go on to be a secret.
      ['assistant.message_delta', "I'll "],
      ['assistant.message_delta', 'analyze the '],
      ['assistant.message_delta', 'code'],
      ['assistant.turn_end', { turn: 1, model: 'mock/first', tool_calls: 2, ...SPENT }],
      ['assistant.message_void', { turn: 1, reason: 'tool-calls' }],
      ['tool.execution_start', { id: '1', tool: 'grep', args: '{"query":"password"}' }],
      ['tool.execution_complete', { id: '1', tool: 'grep', status: 'completed', result: 'a.ts:1' }],
      ['tool.execution_start', { id: '2', tool: 'view', args: '{}' }],
      ['tool.execution_complete', { id: '2', tool: 'view', status: 'failed', result: 'Error: no path' }],
      ['user.input_requested', { prompt: 'Which one?', choices: ['a', 'b'] }],
      ['user.input_response', 'b'],
      ['assistant.turn_start', { turn: 2, model: 'mock/first' }],
      ['assistant.message_delta', 'line\n'],
      ['assistant.message_delta', '"quoted"'],
      ['assistant.turn_end', { turn: 2, model: 'mock/first', tool_calls: 0, ...SPENT }],
      ['session.idle', undefined],
    ]);
    for (const { ts } of lines) expect(new Date(String(ts)).toISOString()).toBe(ts);
  });

  it('can be read while the step runs', async () => {
    const dir = await tempDir();
    const script: Script = async (_, step) => {
      step.note({ kind: 'model.started', turn: 1, model: 'mock/first' });
      step.note({ kind: 'model.delta', text: 'live now' });
      const [name = ''] = await readdir(dir);
      const written = (): Promise<string> => read(dir, name, 'steps/00_a/stream.jsonl');
      const seen = await step.effect('wait', async () => {
        for (;;) {
          const text = await written().catch(() => '');
          if (text.includes('"live "')) return text;
          await new Promise((resolve) => setImmediate(resolve));
        }
      });
      expect((await readJson(dir, name, 'steps/00_a/step.meta.json'))['status']).toBe('running');
      return { type: 'done', output: seen };
    };
    const { path, result } = await record(workflowOf([agentNode('a')]), script, { dir, streaming: true });
    expect(result.error).toBeUndefined();
    const { output } = { output: await read(path, 'steps/00_a/output.md') };
    expect((await read(path, 'steps/00_a/stream.jsonl')).startsWith(output)).toBe(true);
  });

  it('has the whole text of a turn that did not come in pieces', async () => {
    const dir = await tempDir();
    const script: Script = (_, step) => {
      step.note({ kind: 'model.started', turn: 1, model: 'm' });
      step.note({ kind: 'model.ended', turn: 1, model: 'm', text: 'all at once', usage, toolCalls: 0 });
      return { type: 'done', output: 'all at once' };
    };
    const { path } = await record(workflowOf([agentNode('a')]), script, { dir, streaming: true });
    const lines = await readLines(path, 'steps/00_a/stream.jsonl');
    expect(lines[1]).toMatchObject({ type: 'assistant.message_delta', data: 'all at once' });
  });

  it('shows failed calls, and ends with the error', async () => {
    const dir = await tempDir();
    const error = { code: 'SKEIN_NETWORK', message: 'connection cut' } as const;
    const script: Script = (_, step) => {
      step.note({ kind: 'model.started', turn: 1, model: 'mock/first' });
      step.note({ kind: 'model.delta', text: 'half' });
      step.note({ kind: 'model.retrying', model: 'mock/first', error, delayMs: 500 });
      step.note({ kind: 'model.fallback', from: 'mock/first', to: 'mock/second', error });
      return { type: 'failed', error };
    };
    const retry = { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } as const;
    const { path } = await record(workflowOf([agentNode('a', { retry })]), script, { dir, streaming: true });
    const lines = await readLines(path, 'steps/00_a/stream.jsonl');
    const attempt = ['turn_start', 'message_delta', 'message_void', 'turn_retry', 'turn_fallback'].map(
      (name) => `assistant.${name}`,
    );
    expect(types(lines)).toEqual([...attempt, 'session.retry', ...attempt, 'session.error']);
    expect(lines.at(-1)).toMatchObject({ data: 'connection cut' });
  });

  it('is there only when streaming is on, and only for agents that started', async () => {
    const dir = await tempDir();
    const when = [{ op: 'contains', value: { channel: 'steps.a.output' }, operand: ['nothing like it'] }] as const;
    const nodes = [agentNode('a'), agentNode('b', { when })];
    const streams = async (streaming: boolean): Promise<readonly string[]> => {
      const workflow = workflowOf(nodes, [['a', 'b']], { settings: { streaming } });
      const { path } = await record(workflow, echo, { dir });
      return (await filesIn(path)).filter((name) => name.endsWith('.jsonl'));
    };
    expect(await streams(false)).toEqual([]);
    expect(await streams(true)).toEqual(['steps/00_a/stream.jsonl']);
  });

  it('keeps each event on one line that steers no terminal (T7)', async () => {
    const dir = await tempDir();
    const evil = 'a\r\nb\u2028c\u001b]0;x\u0007\u009b31m\u202e';
    const script: Script = (_, step) => {
      turn(step, 1, [evil]);
      return { type: 'done', output: evil };
    };
    const { path } = await record(workflowOf([agentNode('a')]), script, { dir, streaming: true });
    const text = await read(path, 'steps/00_a/stream.jsonl');
    expect(text.replaceAll('\n', '')).toMatch(/^[ -~]*$/);
    const said = (await readLines(path, 'steps/00_a/stream.jsonl')).filter(
      ({ type }) => type === 'assistant.message_delta',
    );
    expect(said.map(({ data }) => data).join('')).toBe(evil);
  });
});

describe('memory.md', () => {
  it('begins with the first text, takes appended lines and is replaced (statements 81, 97)', async () => {
    const dir = await tempDir();
    const seen: string[] = [];
    const workflow = workflowOf([agentNode('a')], [], { settings: { memory: { initial: 'Goal: review' } } });
    const script: Script = async (_, step) => {
      const [name = ''] = await readdir(dir);
      seen.push(await read(dir, name, 'memory.md'));
      step.note({ kind: 'memory', mode: 'append', text: '[t] [a] one' });
      step.note({ kind: 'memory', mode: 'append', text: 'two\n' });
      step.note({ kind: 'memory', mode: 'append', text: 'three' });
      return { type: 'done', output: 'x' };
    };
    const first = await record(workflow, script, { dir });
    expect(seen).toEqual(['Goal: review']);
    expect(await read(first.path, 'memory.md')).toBe('Goal: review\n[t] [a] one\ntwo\nthree');
    const replace: Script = (_, step) => {
      step.note({ kind: 'memory', mode: 'replace', text: 'new' });
      return { type: 'done', output: 'x' };
    };
    expect(await read((await record(workflow, replace, { dir })).path, 'memory.md')).toBe('new');
  });

  it('loses no entry of many writers', async () => {
    const dir = await tempDir();
    const nodes = Array.from({ length: 60 }, (_, at) => agentNode(`w${at}`));
    const script: Script = async (node, step) => {
      for (let entry = 0; entry < 5; entry += 1) {
        await step.effect(`e${entry}`, () => undefined);
        step.note({ kind: 'memory', mode: 'append', text: `${node.id}:${entry}` });
      }
      return { type: 'done', output: 'x' };
    };
    const { path } = await record(workflowOf(nodes, [], { settings: { memory: { initial: '' } } }), script, { dir });
    const lines = (await read(path, 'memory.md')).split('\n');
    expect(lines).toHaveLength(300);
    expect(new Set(lines).size).toBe(300);
  });
});
