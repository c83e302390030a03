import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/lang/values.js';
import type { Plan } from '../../src/plan/plan.js';
import { agentNode, echo, filesIn, read, readJson, record, tempDir, workflowOf } from './support/folder.js';
import type { Script } from './support/folder.js';

const contains = (step: string, text: string) =>
  ({ op: 'contains', value: { channel: `steps.${step}.output` }, operand: [text] }) as const;

describe('the record of a step', () => {
  it('has the fields of document and code, the model that answered, and the sum of its calls (decision 1, statement 61)', async () => {
    const script: Script = (node, step) => {
      if (node.id === 'scan') return echo(node, step);
      step.note({ kind: 'prompt', system: 'Be brief.', prompt: 'look', model: 'mock/first' });
      step.note({ kind: 'model.started', turn: 1, model: 'mock/first' });
      const error = { code: 'SKEIN_MODEL_UNAVAILABLE', message: 'gone' } as const;
      step.note({ kind: 'model.fallback', from: 'mock/first', to: 'mock/second', error });
      const usage = { inputTokens: 10, outputTokens: 3 };
      step.note({ kind: 'model.ended', turn: 1, model: 'mock/second', text: '', usage, toolCalls: 2 });
      for (const id of ['1', '2']) step.note({ kind: 'tool.started', id, tool: 'grep', input: { pattern: 'x' } });
      step.note({
        kind: 'model.ended',
        turn: 2,
        model: 'mock/second',
        text: 'ok',
        usage: { ...usage, cachedTokens: 4 },
        toolCalls: 0,
      });
      return { type: 'done', output: 'ok' };
    };
    const dir = await tempDir();
    const when = [contains('scan', 'answer')];
    const workflow = workflowOf([agentNode('scan'), agentNode('fix', { when })], [['scan', 'fix']]);
    const { path, result } = await record(workflow, script, { dir });
    const meta = await readJson(path, 'steps/01_fix/step.meta.json');
    expect(meta).toMatchObject({
      id: 'fix',
      step_id: 'fix',
      path: 'fix',
      agent: 'fix-agent',
      model: 'mock/second',
      requested_models: ['mock/first', 'mock/second'],
      interactive: false,
      status: 'completed',
      outcome: 'succeeded',
      depends_on: ['scan'],
      condition: { step: 'scan', contains: 'answer' },
      condition_met: true,
      condition_result: true,
      attempts: 1,
      turns: 2,
      tool_calls: 2,
      usage: { input_tokens: 20, output_tokens: 6, cached_tokens: 4 },
      session_id: `${result.runId}/fix`,
      output_file: 'output.md',
    });
    expect(meta['duration_ms']).toBe(Date.parse(String(meta['completed_at'])) - Date.parse(String(meta['started_at'])));
    expect(meta['duration_seconds']).toBe(Number(meta['duration_ms']) / 1_000);
    expect(await read(path, 'steps/01_fix/system.md')).toBe('Be brief.');
    const run = await readJson(path, 'workflow.meta.json');
    expect(run['usage']).toEqual({ input_tokens: 20, output_tokens: 6, cached_tokens: 4 });
  });

  it('keeps prompt and answer whole and byte for byte (statement 80, decision 15)', async () => {
    const dir = await tempDir();
    const answer = `\n  first\r\n${'long '.repeat(50_000)}\u001b[31m é 🧵 {{inputs.x}}\n\n`;
    const output = { format: 'markdown', truncate: { strategy: 'chars', limit: 10 } } as const;
    const workflow = workflowOf([agentNode('a', { prompt: ['  ask\r\n\t"this"\n'] })], [], { settings: { output } });
    const { path } = await record(
      workflow,
      async (node, step) => ({ ...(await echo(node, step)), type: 'done', output: answer }),
      { dir },
    );
    expect(await read(path, 'steps/00_a/prompt.md')).toBe('  ask\r\n\t"this"\n');
    expect(await read(path, 'steps/00_a/output.md')).toBe(answer);
    expect(await read(path, 'final_output.md')).toContain(answer);
  });

  it('writes structured output as JSON text, and updates of other nodes as they are', async () => {
    const dir = await tempDir();
    const plan = workflowOf([
      agentNode('a'),
      { kind: 'task', id: 'count', writes: ['n'] },
      { kind: 'task', id: 'quiet', writes: ['m'] },
    ]);
    const bindings = { count: () => ({ n: 2 }), quiet: () => ({}) };
    const { path } = await record(plan, () => ({ type: 'done', output: { ok: true } }), { dir, bindings });
    expect(await read(path, 'steps/00_a/output.md')).toBe('{"ok":true}');
    expect(JSON.parse(await read(path, 'steps/00_count/output.md'))).toEqual({ n: 2 });
    expect(await filesIn(path)).not.toContain('steps/00_quiet/output.md');
    expect(await readJson(path, 'steps/00_quiet/step.meta.json')).not.toHaveProperty('output_file');
  });
});

describe('steps that did not succeed', () => {
  it('a skipped step has its folder, which says that the condition was not met (statements 76, 103)', async () => {
    const dir = await tempDir();
    const when = [contains('scan', 'RUN'), { ...contains('scan', 'x'), op: 'not_contains' } as const];
    const workflow = workflowOf([agentNode('scan'), agentNode('fix', { when })], [['scan', 'fix']]);
    const { path } = await record(workflow, echo, { dir });
    expect((await filesIn(path)).filter((name) => name.includes('fix'))).toEqual(['steps/01_fix/step.meta.json']);
    const meta = await readJson(path, 'steps/01_fix/step.meta.json');
    expect(meta).toMatchObject({
      status: 'skipped',
      condition: { step: 'scan', contains: 'RUN', not_contains: 'x' },
      condition_met: false,
      condition_result: false,
      reason: expect.stringContaining('RUN') as string,
    });
    expect(meta).not.toHaveProperty('output_file');
    expect(meta).not.toHaveProperty('session_id');
    expect((await readJson(path, 'workflow.meta.json'))['status']).toBe('completed');
  });

  it('a condition that asks whether an output is true is told with the step, or with the value in it', async () => {
    const dir = await tempDir();
    const value = { channel: 'steps.scan.output' };
    const when = (path?: readonly string[]): Condition[] => [
      { op: 'truthy', value: path === undefined ? value : { ...value, path }, text: '$steps.scan.output' },
    ];
    const workflow = workflowOf(
      [agentNode('scan'), agentNode('fix', { when: when() }), agentNode('tell', { when: when(['ok']) })],
      [
        ['scan', 'fix'],
        ['scan', 'tell'],
      ],
    );
    const { path } = await record(workflow, echo, { dir });
    expect(await readJson(path, 'steps/01_fix/step.meta.json')).toMatchObject({
      status: 'skipped',
      condition: { step: 'scan', truthy: true },
      reason: `${value.channel} is not true`,
    });
    expect(await readJson(path, 'steps/01_tell/step.meta.json')).toMatchObject({
      condition: { value: `${value.channel}.ok`, truthy: true },
    });
  });

  it('a step that no path led to says nothing about its condition', async () => {
    const dir = await tempDir();
    const nodes = [
      agentNode('bad', { onError: 'skipDependents' }),
      agentNode('next', { when: [contains('bad', 'x')] }),
    ];
    const script: Script = () => ({ type: 'failed', error: { code: 'SKEIN_NETWORK', message: 'cut' } });
    const { path, result } = await record(workflowOf(nodes, [['bad', 'next']]), script, { dir });
    expect(result.outcome).toBe('degraded');
    const meta = await readJson(path, 'steps/01_next/step.meta.json');
    expect(meta['status']).toBe('skipped');
    expect(meta).not.toHaveProperty('condition_met');
    expect(await readJson(path, 'workflow.meta.json')).toMatchObject({ status: 'completed', outcome: 'degraded' });
  });

  it('a failed step keeps prompt and error and names no output (statements 31, 76, 94)', async () => {
    const dir = await tempDir();
    const error = { code: 'SKEIN_MODEL_FAILED', message: 'HTTP 500', hint: 'try later' } as const;
    const script: Script = async (node, step) => {
      const done = await echo(node, step);
      return node.id === 'bad' ? { type: 'failed', error } : done;
    };
    const workflow = workflowOf(
      [agentNode('good'), agentNode('bad'), agentNode('after')],
      [
        ['good', 'bad'],
        ['bad', 'after'],
      ],
    );
    const { path, problems } = await record(workflow, script, { dir });
    expect(problems).toEqual([]);
    const meta = await readJson(path, 'steps/01_bad/step.meta.json');
    const expected = { error: 'HTTP 500', error_code: 'SKEIN_MODEL_FAILED', error_hint: 'try later' };
    expect(meta).toMatchObject({ status: 'failed', outcome: 'failed', ...expected });
    expect(meta).not.toHaveProperty('output_file');
    const names = await filesIn(path);
    expect(names).toContain('steps/01_bad/prompt.md');
    expect(names).toContain('steps/00_good/output.md');
    expect(names.filter((name) => name.includes('bad/output') || name.includes('after'))).toEqual([]);
    expect(await readJson(path, 'workflow.meta.json')).toMatchObject({ status: 'failed', ...expected });
    expect(await read(path, 'final_output.md')).toContain('*Failed: HTTP 500*');
  });

  it('a step whose condition cannot be evaluated has a folder all the same (statement 31)', async () => {
    const dir = await tempDir();
    const when = [{ op: 'cel', expression: '1 + 1', vars: {} }] as const;
    const { path, result } = await record(workflowOf([agentNode('a', { when })]), echo, { dir });
    expect(result.outcome).toBe('failed');
    const meta = await readJson(path, 'steps/00_a/step.meta.json');
    expect(meta).toMatchObject({ status: 'failed', condition: { cel: '1 + 1' }, error_code: 'SKEIN_TEMPLATE' });
    expect(meta).not.toHaveProperty('condition_met');
  });

  it('a cancelled run closes its running steps as cancelled', async () => {
    const dir = await tempDir();
    const controller = new AbortController();
    const script: Script = async (node, step) => {
      if (node.id === 'quick') return echo(node, step);
      step.note({ kind: 'prompt', system: '', prompt: 'slow', model: 'mock/first' });
      setImmediate(() => controller.abort(new Error('Ctrl-C')));
      return await step.effect('wait', () => new Promise<never>(() => undefined));
    };
    const nodes = [agentNode('quick'), agentNode('slow'), agentNode('never')];
    const workflow = workflowOf(nodes, [['slow', 'never']]);
    const { path } = await record(workflow, script, { dir, signal: controller.signal });
    expect(await readJson(path, 'steps/00_slow/step.meta.json')).toMatchObject({ status: 'cancelled' });
    expect(await readJson(path, 'steps/00_quick/step.meta.json')).toMatchObject({ status: 'completed' });
    expect(await readJson(path, 'workflow.meta.json')).toMatchObject({ status: 'cancelled', error: 'Ctrl-C' });
    expect(await read(path, 'final_output.md')).toContain(
      '## Step: slow\n\n*Cancelled*\n\n## Step: never\n\n*Not run*',
    );
  });

  it('a paused run says what it waits for', async () => {
    const dir = await tempDir();
    const script: Script = () => ({ type: 'paused', question: { text: 'Ship it?' }, reason: 'nobody is here' });
    const { path } = await record(workflowOf([agentNode('a')]), script, { dir });
    expect(await readJson(path, 'steps/00_a/step.meta.json')).toMatchObject({ status: 'paused', reason: 'Ship it?' });
    expect(await readJson(path, 'workflow.meta.json')).toMatchObject({ status: 'paused' });
  });

  it('counts attempts and keeps the last error', async () => {
    const dir = await tempDir();
    const retry = { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } as const;
    const script: Script = (_, step) => ({
      type: 'failed',
      error: { code: 'SKEIN_NETWORK', message: `try ${step.attempt}` },
    });
    const { path } = await record(workflowOf([agentNode('a', { retry })]), script, { dir });
    expect(await readJson(path, 'steps/00_a/step.meta.json')).toMatchObject({ attempts: 2, error: 'try 2' });
  });
});

describe('folders of steps', () => {
  const inner = (id: string): Plan => ({ ...workflowOf([agentNode(id)]).plan!, name: 'inner' });

  it('are one for each round and item, named after the path', async () => {
    const dir = await tempDir();
    const nodes = [
      agentNode('first', { output: 'list', writes: ['list'] }),
      {
        kind: 'loop',
        id: 'refine',
        plan: inner('critic'),
        until: [{ op: 'code' }],
        maxRounds: 2,
        onMaxRounds: 'continue',
      },
      {
        kind: 'map',
        id: 'scan',
        plan: {
          ...inner('file'),
          inputs: [{ channel: 'item', name: 'item', required: true }],
          channels: [{ name: 'item' }, { name: 'steps.file.output' }],
        },
        over: { channel: 'list' },
        item: 'item',
        key: ['name'],
        result: 'steps.file.output',
        maxItems: 9,
        output: 'results',
        writes: ['results'],
      },
    ] as const;
    const workflow = workflowOf(nodes, [
      ['first', 'refine'],
      ['first', 'scan'],
    ]);
    const items = [{ name: '../a b' }, { name: 'a-b' }, { name: 'A-b' }];
    const script: Script = (node, step) => (node.id === 'first' ? { type: 'done', output: items } : echo(node, step));
    const { path, result } = await record(workflow, script, { dir, bindings: { 'until:refine': () => false } });
    expect(result.error).toBeUndefined();
    const folders = new Set((await filesIn(path)).flatMap((name) => /^steps\/([^/]+)\//.exec(name)?.[1] ?? []));
    expect([...folders].toSorted()).toEqual([
      '00_first',
      '01_refine',
      '01_refine-1.critic',
      '01_refine-2.critic',
      '01_scan',
      '01_scan-._a_b-.file',
      '01_scan-A-b-.file~2',
      '01_scan-a-b-.file',
    ]);
    const meta = await readJson(path, 'steps/01_refine-2.critic/step.meta.json');
    expect(meta).toMatchObject({ id: 'critic', path: 'refine#2/critic', agent: 'critic-agent', depends_on: [] });
  });

  it('are never used twice when a step around them is tried again', async () => {
    const dir = await tempDir();
    const retry = { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } as const;
    let calls = 0;
    const script: Script = async (node, step) => {
      calls += 1;
      await echo(node, step);
      if (calls === 1) return { type: 'failed', error: { code: 'SKEIN_NETWORK', message: 'cut' } };
      return { type: 'done', output: 'second' };
    };
    const workflow = workflowOf([{ kind: 'call', id: 'outer', plan: inner('work'), retry }]);
    const { path, result } = await record(workflow, script, { dir });
    expect(result.outcome).toBe('succeeded');
    expect(await readJson(path, 'steps/00_outer.work/step.meta.json')).toMatchObject({ status: 'failed' });
    expect(await read(path, 'steps/00_outer-2.work/output.md')).toBe('second');
  });
});
