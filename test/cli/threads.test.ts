import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from 'skein/sqlite';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const CHAT = `
import { graph } from 'skein/graph';
export default graph({ name: 'chat', inputs: ['say'], reducers: { log: 'append' } })
  .addNode('reply', (s) => {
    if (s.say === 'fail') throw new Error('the world is broken');
    return { log: \`heard \${s.say}\`, answer: \`\${(s.log ?? []).length + 1} lines\` };
  })
  .setEntry('reply');
`;
const DAG = `
name: letters
description: Writes letters
inputs:
  topic: {}
agents:
  writer:
    inline: { description: Writes, prompt: You write. }
steps:
  - id: letter
    agent: writer
    prompt: "A letter on {{inputs.topic}}"
`;
const PIPELINE = `
agents:
  first: { description: d, instruction: Say it }
  second: { description: d, instruction: Check it }
workflow:
  - type: agent
    name: first
  - type: agent
    name: second
`;

interface Turn {
  readonly turn: number;
  readonly status: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly results: Readonly<Record<string, unknown>>;
}
interface Shown {
  readonly state: Readonly<Record<string, unknown>>;
  readonly turns: readonly Turn[];
}

async function shown(cwd: string, name: string): Promise<Shown> {
  const { code, stdout } = await served(['thread', name, '--json'], { cwd });
  expect(code).toBe(0);
  return JSON.parse(stdout) as Shown;
}

describe('[XG6] skein run --thread', () => {
  it('shows what each turn answered, also when it answers what the one before did', async () => {
    const cwd = await makeProject({ 'letters.yaml': DAG });
    for (const topic of ['cats', 'cats', 'dogs']) {
      const words = ['run', 'letters.yaml', '--mock', '--quiet', '--thread', 'post', '--input', `topic=${topic}`];
      expect((await served(words, { cwd })).code).toBe(0);
    }
    const results = (await shown(cwd, 'post')).turns.map((turn) => turn.results);
    const answers = ['cats', 'cats', 'dogs'].map((topic) => ({ 'steps.letter.output': `A letter on ${topic}` }));
    expect(results).toEqual(answers);
    const { stdout } = await served(['thread', 'post'], { cwd });
    expect(stdout.match(/A letter on cats/g)).toHaveLength(2);
  });

  it('goes on from the state of the turn before, in another process, and shows the conversation', async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    for (const say of ['one', 'fail', 'two']) {
      const { code } = await served(['run', 'chat.mjs', '--thread', 'ada', '-q', '--no-audit', '-i', `say=${say}`], {
        cwd,
      });
      expect(code).toBe(say === 'fail' ? 3 : 0);
    }
    const { state, turns } = await shown(cwd, 'ada');
    expect(state).toEqual({ say: 'two', log: ['heard one', 'heard two'], answer: '2 lines' });
    expect(turns.map(({ status, inputs, results }) => [status, inputs['say'], results['answer']])).toEqual([
      ['succeeded', 'one', '1 lines'],
      ['failed', 'fail', undefined],
      ['succeeded', 'two', '2 lines'],
    ]);
    const text = (await served(['thread', 'ada'], { cwd })).stdout;
    expect(text).toContain('ada of chat: 3 turns');
    expect(text).toMatch(/turn 2 {2}failed .* does not count\n {2}> say: fail\n {2}error: the world is broken/);
    const runs = (await served(['runs'], { cwd })).stdout.split('\n');
    expect(runs[1]).toBe('thread ada');
    expect(runs.slice(2).filter((line) => /^ {2}[\da-f]{8} {2}chat/.test(line))).toHaveLength(3);
    const threads = (await served(['threads'], { cwd })).stdout;
    expect(threads).toMatch(/^ada +chat +3 +succeeded/m);
  });

  it('tries a failed turn again when it is told to, and needs no input that the thread has', async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    const run = async (...more: readonly string[]): Promise<number | null> =>
      (await served(['run', 'chat.mjs', '--thread', 'ada', '-q', '--no-audit', ...more], { cwd })).code;
    expect(await run('-i', 'say=one')).toBe(0);
    expect(await run()).toBe(0);
    expect((await shown(cwd, 'ada')).state['log']).toEqual(['heard one', 'heard one']);
    expect(await run('-i', 'say=fail')).toBe(3);
    const again = await served(['run', 'chat.mjs', '--thread', 'ada', '--on-failed', 'retry', '-i', 'say=x'], {
      cwd,
    });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('was tried again, and failed')]);
  });

  it.each([
    ['a DAG', DAG, (say: string) => ['run', 'flow.yaml', '-i', `topic=${say}`], 'A letter on two'],
    ['a pipeline', PIPELINE, (say: string) => ['exec', 'flow.yaml', say], 'two'],
  ] as const)('holds a conversation with %s', async (_, file, words, text) => {
    const cwd = await makeProject({ 'flow.yaml': file });
    for (const say of ['one', 'two'])
      expect((await served([...words(say), '--thread', 'ada', '--mock', '-q', '--no-audit'], { cwd })).code).toBe(0);
    const { turns } = await shown(cwd, 'ada');
    expect(turns).toHaveLength(2);
    expect(Object.values(turns[1]?.results ?? {})).toContain(text);
  });

  it('shows the question that keeps the next turn from beginning, and goes on when it is answered', async () => {
    const ask = `
import { definePlan } from 'skein';
export default definePlan({ name: 'asks', inputs: ['say'], channels: { log: 'append' }, nodes: [
  { id: 'sure', kind: 'ask', output: 'answer', question: 'Are you sure?' },
  { id: 'done', run: (s) => ({ log: s.say + ' ' + s.answer }) },
], edges: [['sure', 'done']] });
`;
    const cwd = await makeProject({ 'ask.mjs': ask });
    const words = ['run', 'ask.mjs', '--thread', 'ada', '-q', '--no-audit', '-i'];
    expect((await served([...words, 'say=one'], { cwd })).code).toBe(5);
    const refused = await served([...words, 'say=two'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('waits for an answer: Are you sure?')]);
    expect((await served(['thread', 'ada'], { cwd })).stdout).toContain('Are you sure?');
    expect((await served(['answer', '-1', 'yes'], { cwd })).code).toBe(0);
    expect((await served([...words, 'say=two'], { cwd })).code).toBe(5);
    expect((await shown(cwd, 'ada')).state['log']).toEqual(['one yes']);
    const open = await served(['thread', 'ada'], { cwd });
    expect(open.stdout).not.toContain('does not count');
    expect((await served(['cancel', '-1'], { cwd })).code).toBe(0);
    expect((await served(['thread', 'ada'], { cwd })).stdout).toMatch(/turn 2 {2}cancelled .* does not count\n/);
    await served(['threads', 'fork', 'ada', 'bob'], { cwd });
    expect((await served(['thread', 'bob'], { cwd })).stdout).toContain('forked from turn 1 of ada');
  });

  it.each([
    [['run', 'chat.mjs', '--thread', 'a', '--no-store'], 1, '--thread needs a record'],
    [['run', 'chat.mjs', '--on-failed', 'skip'], 1, '--on-failed applies only to the turns of a thread'],
    [['run', 'chat.mjs', '--thread', 'a\u001b[2Jb'], 1, 'is not a valid thread name'],
    [['run', 'chat.mjs', '--thread', '../../etc'], 2, 'say'],
    [['thread', 'bob'], 2, "the store has no thread 'bob'"],
  ] as const)('%j is refused', async (words, code, message) => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    await served(['run', 'chat.mjs', '--no-audit', '-q', '-i', 'say=x'], { cwd });
    const refused = await served(words, { cwd });
    expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(message)]);
    expect(refused.stderr).not.toContain('\u001b');
  });
});

describe('[XG6] skein threads', () => {
  it('forks and removes conversations, prunes without a loss, and prints what stands in them as text', async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    const run = (thread: string, say: string): ReturnType<typeof served> =>
      served(['run', 'chat.mjs', '--thread', thread, '-q', '--no-audit', '-i', `say=${say}`], { cwd });
    await run('ada', 'one');
    await run('ada', 'two\u001b[2J');
    expect((await served(['thread', 'ada'], { cwd })).stdout).not.toContain('\u001b[2J');
    expect((await served(['threads', 'fork', 'ada', 'bob', '--turn', '1'], { cwd })).code).toBe(0);
    expect((await served(['runs', 'prune', '--keep', '0'], { cwd })).code).toBe(0);
    await run('bob', 'three');
    expect((await shown(cwd, 'bob')).state['log']).toEqual(['heard one', 'heard three']);
    expect((await shown(cwd, 'ada')).turns).toHaveLength(2);
    expect((await served(['threads', 'remove', 'ada'], { cwd })).code).toBe(0);
    const { stdout } = await served(['threads', '--json'], { cwd });
    expect((JSON.parse(stdout) as { threads: { id: string }[] }).threads.map(({ id }) => id)).toEqual(['bob']);
  });

  it('is for stores that this user has made: a planted conversation is not believed', async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    (await openSqliteStore(join(cwd, '.skein/skein.db'))).close();
    const { code, stderr } = await served(['run', 'chat.mjs', '--thread', 'ada', '-i', 'say=x', '--no-audit'], { cwd });
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('skein runs trust')]);
  });
});

it('a pipeline without ids does not go on with the thread of another one: its steps only have the same places', async () => {
  const other = PIPELINE.replace('Say it', 'Judge it').replaceAll('second', 'third');
  const cwd = await makeProject({ 'one.yaml': PIPELINE, 'other.yaml': other });
  const say = (file: string, text: string) => served(['exec', file, text, '--mock', '--thread', 'ada'], { cwd });
  expect((await say('one.yaml', 'Hi')).code).toBe(0);
  const refused = await say('other.yaml', 'Ho');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("one of the workflow 'one', which has no step in common with 'other'");
  expect((await say('one.yaml', 'Ho')).code).toBe(0);
});
