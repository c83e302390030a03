import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';

import { pathOf } from '../../src/base/address.js';
import { documentOf, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Visits, items with any keys, blocks within blocks, attempts of blocks, questions in items. */
const FLOW = `agents:
  lister:
    instruction: You list.
    structured_output: { name: list, schema: { type: object, properties: { files: { type: array, items: { type: object } } }, required: [files] } }
  critic: { instruction: You judge., structured_output: { name: v, schema: { type: object, properties: { ok: { type: boolean } }, required: [ok] } } }
  reader: { instruction: You read. }
workflow:
  - { id: draft, type: agent, name: reader }
  - { id: review, type: agent, name: critic }
  - { type: condition, condition: "{{ $steps.review.output.ok }}", false: [{ goto: draft }] }
  - { id: list, type: agent, name: lister }
  - id: each
    type: map
    over: "{{ $steps.list.output.files }}"
    key: name
    steps:
      - { id: read, type: agent, name: reader }
      - { id: ok, type: ask, question: Is it good?, choices: ["yes", "no"] }
  - id: par
    type: parallel
    retry: { max_attempts: 1, initial_delay: 1ms, on: [no luck] }
    steps:
      - { id: a, type: agent, name: reader }
      - id: inner
        type: parallel
        steps: [{ id: b, type: agent, name: reader }, { id: c, type: agent, name: reader }]
  - { id: end, type: agent, name: reader }
`;

const NAMES = ['a/b', 'a b', 'a_b', 'x]#2~3@y', '__proto__', "it's", '50%', 'übung'];

const SCRIPT = `strict: false
rules:
  - { step: "review#2", answer: { json: { ok: true } } }
  - { step: review, answer: { json: { ok: false } } }
  - { step: list, answer: { json: { files: ${JSON.stringify(NAMES.map((name) => ({ name })))} } } }
  - { step: par/inner/c, answers: [{ error: { status: 400, message: no luck } }, { text: C two }], repeat: true }
`;

interface Shown {
  readonly steps: readonly {
    readonly path: string;
    readonly outcome: string;
    readonly kind?: string;
    readonly modelCalls: number;
  }[];
  readonly questions: readonly { readonly path: string; readonly key: string }[];
}

let cwd = '';
let paths: readonly string[] = [];

async function shown(run = '-1'): Promise<Shown> {
  return JSON.parse((await served(['show', run, '--json'], { cwd })).stdout) as Shown;
}

describe('[XP1] one address of a step in all places', () => {
  const folders: string[] = [];
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'skein-addresses-'));
    folders.push(cwd);
    await writeFile(join(cwd, 'flow.yaml'), FLOW);
    await writeFile(join(cwd, 'script.yaml'), SCRIPT);
  });
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  test('questions are answered by the path that show prints, whatever the key of the item', async () => {
    await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--audit-dir=audit'], { cwd });
    const { questions } = await shown();
    expect(questions.map((pause) => pause.path).toSorted()).toEqual(
      NAMES_IN_PATHS.map((name) => `each[${name}]/ok`).toSorted(),
    );
    for (const [at, { path, key }] of questions.entries()) {
      const end = await served(['answer', '-1', at % 2 === 0 ? path : key, 'yes'], { cwd });
      expect(end).toMatchObject({ code: 0, stdout: `${path} is answered: "yes"\n` });
    }
    const end = documentOf(await served(['resume', '-1', '--json', '--audit-dir=audit'], { cwd }));
    expect(end).toMatchObject({ outcome: 'succeeded' });
    paths = (await shown()).steps.filter((step) => step.modelCalls > 0).map((step) => step.path);
    expect(paths.toSorted()).toEqual(
      [
        'draft',
        'review',
        'draft#2',
        'review#2',
        'list',
        'par/a',
        'par/inner/b',
        'par/inner/c',
        'end',
        ...NAMES_IN_PATHS.map((name) => `each[${name}]/read`),
      ].toSorted(),
    );
    expect(Object.keys(end.steps)).toEqual(expect.arrayContaining([...paths]));
  });

  test('logs, compare and the audit folder have the same ones', async () => {
    const logs = JSON.parse((await served(['logs', '-1', '--json'], { cwd })).stdout) as {
      readonly moments: readonly { readonly path: string }[];
    };
    const told = new Set(logs.moments.map((moment) => moment.path));
    expect([...told]).toEqual(expect.arrayContaining([...paths]));
    const metas = (await filesIn(join(cwd, 'audit'))).filter((file) => file.endsWith('step.meta.json'));
    const audited = metas.map(
      (file) => (JSON.parse(readFileSync(join(cwd, 'audit', file), 'utf8')) as { readonly path: string }).path,
    );
    expect(new Set(audited.map(pathOf))).toEqual(new Set([...audited.map(pathOf), ...paths]));
    const compared = JSON.parse((await served(['compare', '-1', '-1', '--json'], { cwd })).stdout) as {
      readonly steps: readonly { readonly path: string }[];
    };
    expect(compared.steps.map((step) => step.path)).toEqual(expect.arrayContaining([...paths]));
  });

  test('fork --from takes each of them, and that step runs again', async () => {
    const run = (JSON.parse((await served(['show', '-1', '--json'], { cwd })).stdout) as { readonly id: string }).id;
    for (const from of [
      'review#2',
      'each[a%2Fb]/read',
      'each[a_b]/read',
      'each[x_#2~3@y]/read',
      'each[50%]/read',
      'par/inner/c',
      'par~2/inner/c',
    ]) {
      const forked = documentOf(await served(['fork', run, '--from', from, '--json', '--no-audit', '--yes'], { cwd }));
      const steps = forked.steps as unknown as Readonly<Record<string, { readonly modelCalls: number }>>;
      // The script fails the first call of the one step again.
      expect([from, steps[pathOf(from)]?.modelCalls]).toEqual([from, from.endsWith('/c') ? 2 : 1]);
      expect(steps['draft']?.modelCalls).toBe(0);
      const others = NAMES_IN_PATHS.map((name) => `each[${name}]/read`).filter((path) => path !== from);
      if (from.startsWith('each[')) expect(others.map((path) => steps[path]?.modelCalls)).toEqual(others.map(() => 0));
    }
  });
});

/** What is no plain text in a path has `_`, and is written out where two items would have one name. */
const NAMES_IN_PATHS = ['a%2Fb', 'a%20b', 'a_b', 'x_#2~3@y', '__proto__', "it's", '50%', 'übung'];

test('items whose keys are the same are refused', async () => {
  const project = await makeProject({ 'flow.yaml': FLOW, 'script.yaml': SCRIPT.replace('"a b"', '"a/b"') });
  const end = await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--no-audit'], { cwd: project });
  expect(end.code).toBe(3);
  expect(end.stderr).toContain("item 1 of 'each' repeats 'a/b' at its key 'name'");
});
