import { expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const AGENTS = `agents:
  writer: { instruction: You write. }
  critic:
    instruction: You judge.
    structured_output: { name: verdict, schema: { type: object, properties: { ok: { type: boolean } }, required: [ok] } }
`;

const INNER = (indent: string): string =>
  [
    '- { id: draft, type: agent, name: writer }',
    '- { id: check, type: agent, name: critic }',
    '- { type: condition, condition: "{{ $steps.check.output.ok }}", false: [{ goto: draft }] }',
  ]
    .map((line) => `${indent}${line}\n`)
    .join('');

const OUTER = `    - { id: review, type: agent, name: critic }
    - { type: condition, condition: "{{ $steps.review.output.ok }}", false: [{ goto: plan }] }
`;

/** A loop in a loop, in one list. */
const FLAT = `${AGENTS}workflow:
  max_loop_iterations: 2
  steps:
    - { id: plan, type: agent, name: writer }
${INNER('    ')}${OUTER}`;

/** The same with the inner loop in a block. */
const BLOCK = `${AGENTS}workflow:
  max_loop_iterations: 2
  steps:
    - { id: plan, type: agent, name: writer }
    - id: inner
      type: sequence
      steps:
${INNER('        ')}${OUTER}`;

/** The inner loop is gone round twice for each entry, the outer one twice: both to their limits. */
function script(check: string, drafts: number): string {
  const failing = Array.from({ length: drafts - 1 }, () => '{ json: { ok: false } }');
  const checks = [1, 2, 3].flatMap(() => [...failing, '{ json: { ok: true } }']);
  const list = (id: string, answers: readonly string[]): string =>
    answers
      .map((answer, at) => `  - { step: ${JSON.stringify(at === 0 ? id : `${id}#${at + 1}`)}, answer: ${answer} }\n`)
      .toReversed()
      .join('');
  const review = list('review', ['{ json: { ok: false } }', '{ json: { ok: false } }', '{ json: { ok: true } }']);
  if (check === 'check') return `strict: false\nrules:\n${list('check', checks)}${review}`;
  const inner = [3, 2, 1].map((visit) => {
    const entry = visit === 1 ? 'inner' : `inner#${visit}`;
    return list(`${entry}/check`, checks.slice(0, drafts));
  });
  return `strict: false\nrules:\n${inner.join('')}${review}`;
}

test.each([
  ['in a list', FLAT, 'check'],
  ['in a block', BLOCK, 'inner/check'],
])('[XP6] the limit of a loop inside of a loop counts for each entry: %s', async (_, flow, check) => {
  const cwd = await makeProject({ 'flow.yaml': flow, 'good.yaml': script(check, 3), 'bad.yaml': script(check, 4) });
  const good = await served(['exec', 'flow.yaml', 'go', '--mock=good.yaml', '--no-audit'], { cwd });
  expect(good.stderr).toContain('\n24 model calls');
  expect(good.code).toBe(0);
  const bad = await served(['exec', 'flow.yaml', 'go', '--mock=bad.yaml', '--no-audit'], { cwd });
  expect(bad.code).toBe(3);
  expect(bad.stderr).toContain('workflow: max loop iterations exceeded (step: draft, limit: 2)');
});

test('[XP6] what a run costs at most is known for loops inside of loops', async () => {
  const cwd = await makeProject({ 'flat.yaml': FLAT, 'block.yaml': BLOCK });
  const worst = async (file: string): Promise<unknown> => {
    const plan = JSON.parse((await served(['plan', file, '--json'], { cwd })).stdout) as {
      readonly modelCalls: { readonly worst: number };
    };
    return plan.modelCalls.worst;
  };
  expect(Number(await worst('flat.yaml'))).toBeGreaterThanOrEqual(3 * (1 + 3 * 2 + 1));
  expect(Number(await worst('block.yaml'))).toBeGreaterThanOrEqual(3 * (1 + 3 * 2 + 1));
});
