import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const PRICES = `date: 2026-11-01
sources: { own: our own machines }
models:
  own/*: { input: 1, output: 100 }
  openai-compatible/local: { input: 1000, output: 1000000 }
`;

describe('[15] skein prices', () => {
  test('shows what models cost, with date and source; those of a file first', async () => {
    const cwd = await makeProject({ 'prices.yaml': PRICES });
    const all = await served(['prices', '--prices', 'prices.yaml'], { cwd });
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout).toMatch(/^US dollars for a million tokens\n\nmodel .*\nown\/\* +1 .* 100/);
    expect(all.stdout).toMatch(/\nanthropic\/claude-sonnet-5 /);
    expect(all.stdout).toMatch(/\nown: your prices, as of 2026-11-01, our own machines\n/);
    expect(all.stdout).toMatch(/\nopenai: as of \d{4}-\d\d-\d\d, https:\/\//);
    const ofOne = await served(['prices', 'openai'], { cwd });
    expect(ofOne.stdout).not.toContain('anthropic');
  });

  test.each([
    ['haiku', 'anthropic/claude-haiku-4-5'],
    ['gpt-5-mini', 'openai/gpt-5-mini'],
    ['own/large', 'own/*'],
  ])('understands %s, and gives JSON', async (asked, model) => {
    const cwd = await makeProject({ 'prices.yaml': PRICES });
    const end = await served(['prices', asked, '--prices', 'prices.yaml', '--json'], { cwd });
    expect(documentOf(end)).toMatchObject({
      currency: 'USD',
      models: [{ model, own: model === 'own/*', date: expect.any(String) as string }],
    });
  });

  test('says of an unknown model which one may be meant, and how to give a price', async () => {
    const end = await served(['prices', 'openai/gpt-5-mni'], { cwd: await makeProject() });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain('no price is known for openai/gpt-5-mni');
    expect(end.stderr).toContain('did you mean "openai/gpt-5-mini"? you can give one: --prices FILE');
  });

  test('tells everything that is wrong with a file, each with its place', async () => {
    const models = ['own/*: { input: -1, output: 2 }', 'gpt: { input: 1, output: x, abov: 3 }', 'a/b: { input: .nan }'];
    const steps =
      'a/c: { input: 1, output: 1, above: [{ tokens: 9, input: 1, output: 1 }, { tokens: 9, input: 1, output: 1 }] }';
    const text = `currency: EUR\nmodels:\n${[...models, steps].map((line) => `  ${line}\n`).join('')}`;
    const end = await served(['prices', '--prices', 'bad.yaml'], { cwd: await makeProject({ 'bad.yaml': text }) });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    const found = [...end.stderr.matchAll(/^bad\.yaml:(\d+):\d+: error ([\w-]+)/gm)].map(
      ([, line, code]) => `${line} ${code}`,
    );
    expect(found.toSorted()).toEqual([
      '1 unknown-value',
      '3 out-of-range',
      '4 unknown-key',
      '4 unknown-model',
      '4 wrong-type',
      '5 missing-key',
      '5 wrong-type',
      '6 out-of-range',
    ]);
    const broken = await served(['prices', '--prices', 'b.yaml'], {
      cwd: await makeProject({ 'b.yaml': 'models: [' }),
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringMatching(/^b\.yaml:1:\d+: error/m) as string });
    const absent = await served(['prices', '--prices', 'none.yaml'], { cwd: await makeProject() });
    expect(absent.stderr).toContain('the price file');
  });
});

const FLOW = `name: two
config: { model: openai-compatible/local }
agents: { scout: { inline: { prompt: You look. } } }
steps:
  - { id: look, agent: scout, prompt: Look. }
  - { id: again, agent: scout, prompt: Look again., depends_on: [look], timeout: 60s }
`;
const answers = (again: string): string => `strict: false
rules:
  - { step: look, answer: { text: Seen., usage: { input: 1000, output: 100 } } }
  - { step: again, answer: ${again} }
`;

describe('[15] a run with prices of the user', () => {
  const run = ['run', 'two.yaml', '--no-audit', '--json', '--mock=script.yaml', '--prices', 'prices.yaml'];

  test('counts by them, and so does its resume, which needs no flag', async () => {
    const files = { 'two.yaml': FLOW, 'prices.yaml': PRICES, 'script.yaml': answers('{ error: { status: 401 } }') };
    const cwd = await makeProject(files);
    const first = documentOf(await served(run, { cwd }));
    expect(first).toMatchObject({ outcome: 'failed', usd: 101, unpricedCalls: 0, pretendedUsd: 101 });
    const file = { 'script.yaml': answers('{ text: Seen., usage: { input: 1000, output: 200 } }') };
    const again = await makeProject({ ...files, ...file });
    const resumed = documentOf(await served(['resume', '-1', '--json', `--mock=${again}/script.yaml`], { cwd }));
    expect(resumed).toMatchObject({ outcome: 'succeeded', usd: 201, before: { usd: 101 } });
    expect(documentOf(await served(['show', '-1', '--json'], { cwd }))).toMatchObject({ usd: 302, pretendedUsd: 302 });
  });

  test('counts a call that was cut, or under way at a timeout, at what was reserved for it', async () => {
    const files = { 'prices.yaml': PRICES, 'script.yaml': answers('{ text: Late., delay: 1000s }') };
    const cwd = await makeProject({ ...files, 'two.yaml': FLOW.replace('60s', '1s, on_error: continue') });
    const first = documentOf(await served(run, { cwd }));
    expect(first).toMatchObject({ failedModelCalls: 1, estimated: true, usage: { outputTokens: 100 + 16_384 } });
    expect(first['usd']).toBeGreaterThan(101 + 16_384);
    const { usd, usage } = first;
    expect(documentOf(await served(['show', '-1', '--json'], { cwd }))).toMatchObject({ usd, usage, estimated: true });
  });

  test('does not begin with a file that is damaged', async () => {
    const cwd = await makeProject({ 'two.yaml': FLOW, 'prices.yaml': 'models: 5', 'script.yaml': answers('Seen.') });
    const end = await served(
      run.filter((word) => word !== '--json'),
      { cwd },
    );
    expect(end).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('prices.yaml:1:9: error wrong-type') as string,
    });
    expect((await served(['runs'], { cwd })).stdout).toBe('');
  });
});
