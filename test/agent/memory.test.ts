import { describe, expect, it } from 'vitest';
import { agentExecutor } from '../../src/agent/executor.js';
import { createSharedMemory, withMemory } from '../../src/agent/memory.js';
import type { Model } from '../../src/agent/model.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { FakeProvider } from './support/fake-provider.js';
import { fixedTools, outputOf, runAgent, tool } from './support/run-agent.js';
import { agentNode, fakeStep } from './support/step.js';

const ECHO = { models: { mock: true } } as const;

function calls(...list: { name: string; input: object }[]) {
  return { calls: list.map((call, i) => ({ id: `c${i}`, name: call.name, input: JSON.stringify(call.input) })) };
}

describe('shared memory', () => {
  it('append joins with a newline, replace overwrites (statement 97)', () => {
    const memory = createSharedMemory();
    memory.write('one', 'append');
    memory.write('two', 'append');
    expect(memory.read()).toBe('one\ntwo');
    memory.write('three', 'replace');
    expect(memory.read()).toBe('three');
    const seeded = createSharedMemory('Goal: x\n');
    seeded.write('one', 'append');
    expect(seeded.read()).toBe('Goal: x\none');
  });

  it('is put in front of the prompt, which stays byte for byte (statements 82 and 98)', async () => {
    const prompt = '  Review \r\n---\n the change.\t\n';
    const memory = createSharedMemory('Bug in a.ts');
    const { result } = await runAgent({ ...ECHO, spec: { models: [], memory: { inject: true } }, memory, prompt });
    expect(outputOf(result)).toBe(`## Shared Memory (Current State)\nBug in a.ts\n\n---\n\n${prompt}`);
  });

  it('leaves the prompt unchanged while it is empty (statement 82)', async () => {
    const memory = createSharedMemory('');
    const spec = { models: [], memory: { inject: true } };
    const { result } = await runAgent({ ...ECHO, spec, memory, prompt: 'Only this.' });
    expect(outputOf(result)).toBe('Only this.');
    expect(withMemory(' \n', 'p')).toBe('p');
  });

  it('is not in the prompt without injection; the system prompt then tells of the tools (statement 83)', async () => {
    const memory = createSharedMemory('Bug in a.ts');
    const spec = { models: [], memory: { inject: false } };
    const { result, step } = await runAgent({ ...ECHO, spec, memory, prompt: 'Only this.' });
    expect(outputOf(result)).toBe('Only this.');
    expect(step.of('prompt')[0]?.system).toMatch(
      /^You review code\.\n\n.*memory[^]*shared_memory_read[^]*shared_memory_write/,
    );
    const injected = await runAgent({ ...ECHO, spec: { models: [], memory: { inject: true } }, memory });
    expect(injected.step.of('prompt')[0]?.system).toBe('You review code.');
  });

  it('has its label as soon as it has its text, also for an agent that begins right then and has been replayed', async () => {
    const memory = createSharedMemory();
    const inject = { models: ['own/reader'], memory: { inject: true } };
    const reader = agentNode(inject);
    const writer = agentNode({ models: ['own/writer'], memory: { inject: false } });
    const page = tool('page', () => 'from a page');
    const said = [
      [{ name: 'page', input: { path: 'a' } }],
      [{ name: 'write_memory', input: { text: 'from a page' } }],
      [],
    ];
    const own = (id: string): Model => ({
      id: `own/${id}`,
      async *stream() {
        for (const { name, input } of (id === 'writer' ? said.shift() : []) ?? [])
          yield { type: 'tool-call', call: { id: name, name, input: JSON.stringify(input) } };
        yield { type: 'text', text: 'Done.' };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    });
    const models = createModelRegistry({ env: {}, noProbe: true, providers: { own } });
    const begun: Promise<unknown>[] = [];
    const { record } = (await runAgent({ registry: models, spec: inject, memory, tools: [page] })).step;
    const late = fakeStep(reader, { replay: record });
    const execute = agentExecutor({
      models,
      tools: fixedTools([page]),
      memory: {
        read: () => memory.read(),
        write(text, mode) {
          memory.write(text, mode);
          begun.push(Promise.resolve(execute(reader, late)));
        },
      },
    });
    await execute(writer, fakeStep(writer));
    await Promise.all(begun);
    expect([begun.length, late.of('prompt')[0]?.prompt]).toEqual([1, expect.stringContaining('from a page')]);
    expect(late.influence.label().level).toBe('untrusted');
  });

  it('is not there for agents that do not use it', async () => {
    await using provider = await FakeProvider.start({ text: 'Done.' });
    const registry = createModelRegistry({ env: { OPENAI_BASE_URL: provider.baseUrl } });
    await runAgent({ registry, spec: { models: ['openai/m'] }, memory: createSharedMemory('x') });
    expect(provider.requests[0]?.body['tools']).toBeUndefined();
  });
});

describe('the memory tools', () => {
  it('both pairs reach the same memory, and each write is told (decision 1, statement 81)', async () => {
    await using provider = await FakeProvider.start(
      calls(
        { name: 'shared_memory_write', input: { content: 'found one bug', mode: 'append' } },
        { name: 'write_memory', input: { text: 'and another' } },
      ),
      calls({ name: 'read_memory', input: {} }, { name: 'shared_memory_read', input: {} }),
      calls({ name: 'shared_memory_write', input: { content: 'all fixed', mode: 'replace' } }),
      { text: 'Done.' },
    );
    const memory = createSharedMemory('Goal: x');
    const { result, step } = await runAgent({
      spec: { models: ['openai/m'], memory: { inject: false }, tools: [] },
      models: { env: { OPENAI_BASE_URL: provider.baseUrl } },
      memory,
    });
    expect(outputOf(result)).toBe('Done.');
    const whole = 'Goal: x\nfound one bug\n[2026-01-02T03:04:05.000Z] [reviewer] and another';
    const read = step.of('tool.ended').filter((note) => note.tool.includes('read'));
    expect(read.map((note) => note.output)).toEqual([whole, whole]);
    expect(memory.read()).toBe('all fixed');
    expect(step.of('memory')).toEqual([
      { kind: 'memory', mode: 'append', text: 'found one bug' },
      { kind: 'memory', mode: 'append', text: '[2026-01-02T03:04:05.000Z] [reviewer] and another' },
      { kind: 'memory', mode: 'replace', text: 'all fixed' },
    ]);
    // Tools of the step: a replay runs them again, so that the memory is what it was.
    expect(step.effects).toEqual(['open', 'model#1', 'model#2', 'model#3', 'model#4', 'close']);
  });

  it('many writers at once lose nothing (statement 81)', async () => {
    const memory = createSharedMemory();
    const writes = Array.from({ length: 20 }, (_, i) => ({ name: 'write_memory', input: { text: `entry ${i}` } }));
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        await using provider = await FakeProvider.start(calls(...writes), { text: 'Done.' });
        const env = { OPENAI_BASE_URL: provider.baseUrl };
        const { result } = await runAgent({
          spec: { models: ['openai/m'], memory: { inject: false } },
          models: { env },
          memory,
        });
        expect(outputOf(result)).toBe('Done.');
      }),
    );
    const lines = memory.read().split('\n');
    expect(lines).toHaveLength(100);
    expect(lines.every((line) => /^\[2026-01-02T03:04:05\.000Z\] \[reviewer\] entry \d+$/.test(line))).toBe(true);
  });

  it('an unknown mode goes back to the model', async () => {
    await using provider = await FakeProvider.start(
      calls({ name: 'shared_memory_write', input: { content: 'x', mode: 'delete' } }),
      { text: 'Done.' },
    );
    const memory = createSharedMemory('kept');
    const env = { OPENAI_BASE_URL: provider.baseUrl };
    const { step } = await runAgent({
      spec: { models: ['openai/m'], memory: { inject: false } },
      models: { env },
      memory,
    });
    expect(step.of('tool.ended')[0]?.status).toBe('error');
    expect(memory.read()).toBe('kept');
  });

  it('can not be called from inside of a model call, which a replay does not run', async () => {
    const told: string[] = [];
    const backEnd: Model = {
      id: 'own/m',
      async *stream(request) {
        const result = await request.dispatch({ id: '1', name: 'write_memory', input: '{"text":"x"}' });
        told.push(`${result.isError} ${result.output}`);
        yield { type: 'text', text: 'Done.' };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const memory = createSharedMemory('kept');
    const { result } = await runAgent({
      spec: { models: ['own/m'], memory: { inject: false } },
      models: { providers: { own: () => backEnd } },
      memory,
    });
    expect([outputOf(result), memory.read()]).toEqual(['Done.', 'kept']);
    expect(told[0]).toMatch(/^true Error: the shared memory can't be reached from inside of a model call/);
  });
});
