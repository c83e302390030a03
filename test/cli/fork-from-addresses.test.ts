import { describe, expect, test } from 'vitest';
import { LOOP, loopScript } from './support/pipelines.js';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Items, a block that is tried again, blocks within blocks. */
const BLOCKS = `agents:
  lister: { instruction: You list., structured_output: { name: list, schema: { type: object, properties: { files: { type: array, items: { type: string } } }, required: [files] } } }
  reader: { instruction: You read. }
workflow:
  - { id: list, type: agent, name: lister }
  - id: each
    type: map
    over: "{{ $steps.list.output.files }}"
    steps:
      - { id: read, type: agent, name: reader }
      - { id: sum, type: agent, name: reader }
  - id: par
    type: parallel
    retry: { max_attempts: 1, initial_delay: 1ms }
    steps:
      - { id: a, type: agent, name: reader }
      - { id: b, type: agent, name: reader }
  - { id: end, type: agent, name: reader }
`;

const BLOCKS_SCRIPT = `strict: false
rules:
  - { step: list, answer: { json: { files: [x, y, z] } } }
  - { step: par/b, answers: [{ error: { code: SKEIN_TOOL_FAILED, message: no luck } }, { text: B two }], repeat: true }
`;

async function record(file: string, script: string): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': file, 'script.yaml': script });
  expect((await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--no-audit'], { cwd })).code).toBe(0);
  return cwd;
}

/** What a fork of the first run does: steps that come from the record, and steps that run. */
async function forkFrom(
  cwd: string,
  from: string,
): Promise<{ readonly ran: readonly string[]; readonly reused: number }> {
  const document = documentOf(await served(['fork', '-1', '--from', from, '--json'], { cwd }));
  const steps = Object.entries(
    document.steps as unknown as Readonly<Record<string, { readonly reused?: true; readonly modelCalls: number }>>,
  );
  expect(document).toMatchObject({ outcome: 'succeeded' });
  return {
    ran: steps.filter(([, step]) => step.modelCalls > 0).map(([path]) => path),
    reused: Number(document['reused']),
  };
}

describe('[XP8] --from takes what show prints', () => {
  test.each([
    ['draft', ['draft', 'review', 'draft#2', 'review#2', 'draft#3', 'review#3', 'publish']],
    ['draft#2', ['draft#2', 'review#2', 'draft#3', 'review#3', 'publish']],
    ['review#2', ['review#2', 'draft#3', 'review#3', 'publish']],
    ['review#3', ['review#3', 'publish']],
    ['publish', ['publish']],
  ])('%s in a loop: what lies before it is not paid again', async (from, ran) => {
    const cwd = await record(LOOP, loopScript());
    const forked = await forkFrom(cwd, from);
    expect(forked).toEqual({ ran, reused: 7 - ran.length });
  });

  test.each([
    ['each[1]/read', ['each[1]/read', 'each[1]/sum', 'par/a', 'par/b', 'end']],
    ['each[1]/sum', ['each[1]/sum', 'par/a', 'par/b', 'end']],
    ['each[2]', ['each[2]/read', 'each[2]/sum', 'par/a', 'par/b', 'end']],
    ['each/sum', ['each[0]/sum', 'each[1]/sum', 'each[2]/sum', 'par/a', 'par/b', 'end']],
    ['par/b', ['par/b', 'end']],
    ['par~2/b', ['par/b', 'end']],
    ['par', ['par/a', 'par/b', 'end']],
  ])('%s among items and blocks', async (from, expected) => {
    const cwd = await record(BLOCKS, BLOCKS_SCRIPT);
    const { ran } = await forkFrom(cwd, from);
    expect(ran.toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ['drat', 'the workflow has no step "drat"', 'did you mean "draft"?'],
    ['draft#7', 'the run has no step "draft#7"', 'did you mean "draft#2"?'],
    ['draft@model#1', 'the workflow has no step "draft@model#1"', 'its steps: draft, review, publish'],
    ['', 'the workflow has no step ""', 'its steps: draft, review, publish'],
    ['draft[x]', 'the run has no step "draft[x]"', 'its steps: draft, draft#2, draft#3'],
  ])('%j is refused, and no run is begun', async (from, message, hint) => {
    const cwd = await record(LOOP, loopScript());
    const end = await served(['fork', '-1', '--from', from], { cwd });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain(`error SKEIN_USAGE: --from: ${message}\n    hint: ${hint}`);
    expect((await served(['runs'], { cwd })).stdout).not.toContain('fork');
  });
});

test('a fork from an item says that the item runs again, and no other one', async () => {
  const cwd = await record(BLOCKS, BLOCKS_SCRIPT);
  const { stderr } = await served(['fork', '-1', '--from', 'each[1]/read'], { cwd });
  expect(stderr).toContain('runs again: each[1]/read, each[1]/sum, ');
  const whole = await served(['fork', '-2', '--from', 'each/read'], { cwd });
  expect(whole.stderr).toContain('runs again: each/read, each/sum, ');
});
