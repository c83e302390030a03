import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadPipeline, loadPipelineText } from '../../../src/yaml.js';
import { agents, brief, loadText, runPipeline } from './run-pipeline.js';

const GOOD = `${agents('a')}workflow:\n  - {id: x, type: agent, name: a}\n`;

/** Loads bytes as a file. */
async function loadBytes(bytes: Uint8Array): Promise<readonly string[]> {
  const cwd = await mkdtemp(join(tmpdir(), 'skein-pipeline-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, 'flow.yaml'), bytes);
  return (await loadPipeline('flow.yaml', { cwd })).problems.map(({ code }) => code);
}

function bombLine(name: string): string {
  const before = String.fromCodePoint((name.codePointAt(0) ?? 0) - 1);
  return `${name}: &${name} [${`*${before},`.repeat(9)}]\n`;
}

describe('files that are too much', () => {
  it.each([
    ['a bomb of aliases', `a: &a [l,l,l,l,l,l,l,l,l]\n${'bcdefghi'.replaceAll(/./g, bombLine)}${GOOD}`],
    ['100,000 brackets', `agents: {a: {}}\nworkflow: ${'['.repeat(100_000)}`],
    ['100,000 dashes', `agents: {a: {}}\nworkflow:\n${'- '.repeat(100_000)}`],
  ])('%s', async (_, text) => {
    const { plan, problems } = await loadText(text);
    expect(plan).toBeUndefined();
    expect(problems.map(({ code }) => code)).toEqual(['yaml-limit']);
    expect(problems[0]?.at?.line).toBeGreaterThan(0);
  });

  it('10 MB', async () => {
    const text = `${GOOD}# ${'x'.repeat(10_000_000)}\n`;
    expect((await loadText(text)).problems.map(({ code }) => code)).toEqual(['file-too-large']);
  });
});

describe('files that are no text', () => {
  it.each([
    ['a zero byte', [0x61, 0x3a, 0x00, 0x0a]],
    ['Latin 1', [0x61, 0x3a, 0x20, 0xe9, 0x0a]],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00, 0x3a, 0x00]],
  ])('%s', async (_, bytes) => {
    expect(await loadBytes(Uint8Array.from(bytes))).toEqual(['file-binary']);
  });

  it('a file that is not there, and a folder', async () => {
    const cwd = tmpdir();
    expect((await loadPipeline('there-is-no-such-file.yaml', { cwd })).problems).toMatchObject([
      { code: 'file-missing' },
    ]);
    expect((await loadPipeline('.', { cwd })).problems).toMatchObject([{ code: 'file-directory' }]);
  });
});

describe('forms of text', () => {
  it('a byte order mark and CRLF are fine, also inside of instructions', async () => {
    const text = GOOD.replace('You are a.', '"You: {{ $prompt }}"').replaceAll('\n', '\r\n');
    const ran = await runPipeline(`\uFEFF${text}`, () => 'done', { prompt: 'Go' });
    expect([ran.outcome, ran.asked[0]?.system]).toEqual(['succeeded', 'You: Go']);
    const wrong = `\uFEFF${GOOD.replace('name: a}', 'name: b}').replaceAll('\n', '\r\n')}`;
    expect(brief((await loadText(wrong)).problems)).toEqual(['4:32 error unknown-agent']);
  });

  it.each(['', '\n', '# only a comment\n', '---\n', '\uFEFF'])('an empty file (%j)', async (text) => {
    expect((await loadText(text)).problems.map(({ code }) => code)).toEqual(['empty-file']);
  });

  it('several documents', async () => {
    expect((await loadText(`${GOOD}---\n${GOOD}`)).problems.map(({ code }) => code)).toEqual(['yaml-documents']);
  });
});

describe('keys and types', () => {
  it.each([
    ['a key twice', GOOD.replace('type: agent', 'type: agent, type: agent')],
    ['an agent twice', `${agents('a', 'a')}workflow:\n  - {id: x, type: agent, name: a}\n`],
    ['workflow twice', `${GOOD}workflow:\n  - {id: y, type: agent, name: a}\n`],
  ])('%s', async (_, text) => {
    const { plan, problems } = await loadText(text);
    expect(plan).toBeUndefined();
    expect(problems.map(({ code }) => code)).toContain('duplicate-key');
  });

  it.each([
    ['type: agent', 'typ: agent', 'type'],
    ['name: a}', 'nmae: a}', 'name'],
    ['workflow:', 'worklfow:', 'workflow'],
    ['instruction:', 'instructoin:', 'instruction'],
  ])('%s as %s: the key that was meant is named', async (right, wrong, key) => {
    const { problems } = await loadText(GOOD.replace(right, wrong));
    expect(problems.map(({ hint }) => hint)).toContain(`did you mean "${key}"?`);
  });

  it.each([
    ['agents: [a]\nworkflow:\n  - {type: agent, name: a}\n', 1],
    [GOOD.replace('name: a}', 'name: [a]}'), 4],
    [GOOD.replace('id: x', 'id: {x: y}'), 4],
    [GOOD.replace('id: x', 'id: x, timeout: []'), 4],
    [GOOD.replace('id: x', 'id: x, retry: 3'), 4],
    [GOOD.replace('id: x', 'id: x, prompt: {a: b}'), 4],
    [`${agents('a')}workflow: yes\n`, 3],
    [`${agents('a')}workflow:\n  steps: {a: b}\n`, 4],
    [`${agents('a')}workflow:\n  - agent\n`, 4],
  ])('%j has a value of the wrong type', async (text, line) => {
    const { plan, problems } = await loadPipelineText(text, { cwd: tmpdir() });
    expect(plan).toBeUndefined();
    expect(problems[0]).toMatchObject({ code: 'wrong-type', at: { line } });
  });
});
