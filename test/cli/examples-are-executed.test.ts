import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import type { Ended } from './support/skein.js';

const EXAMPLES = join(ROOT, 'examples');
const PIPELINES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .filter((name) => existsSync(join(EXAMPLES, name, 'workflow.yaml')))
  .filter((name) => /^workflow:/m.test(readFileSync(join(EXAMPLES, name, 'workflow.yaml'), 'utf8')));
const SCRIPTS = PIPELINES.flatMap((name) =>
  readdirSync(join(EXAMPLES, name))
    .filter((file) => /^script.*\.yaml$/.test(file))
    .map((script) => [name, script] as const),
);

/** A project with the example where it expects to be, and a git history. */
async function projectOf(name: string): Promise<string> {
  const cwd = await makeProject();
  await cp(join(EXAMPLES, name), join(cwd, 'examples', name), { recursive: true });
  const who = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.org', '-c', 'commit.gpgsign=false'];
  for (const words of [['init'], ['commit', '--allow-empty', '-m', 'Accept several input files']]) {
    execFileSync('git', [...who, ...words], { cwd, stdio: 'ignore' });
  }
  return cwd;
}

interface Context {
  readonly steps: Readonly<Record<string, { readonly output?: unknown; readonly agent?: string } & Partial<Context>>>;
  readonly order: readonly string[];
}

/** The JSON under the line of the step context on stderr. */
function contextOf({ stderr }: Ended): Context {
  const json = /^--- Step Context ---\n(\{[\s\S]*?^\})/m.exec(stderr)?.[1];
  if (json === undefined) throw new Error(`no step context in:\n${stderr}`);
  return JSON.parse(json) as Context;
}

test('there are pipelines among the examples', () => expect(PIPELINES).toHaveLength(15));

/** What a script needs: inputs, and a yes where real commands are started. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'batch-over-files/script.yaml': ['--input', 'prompt=examples/batch-over-files/texts', '--trust'],
  'research-with-a-list/script.yaml': ['--input', 'topic=looms'],
  'research-with-a-list/script-other.yaml': ['--input', 'topic=looms', '--input', 'depth=quick'],
  'typed-inputs/script.yaml': [
    '--input',
    'rows=[{"page": 1, "text": "looms"}, {"page": 1, "text": "mills"}, {"page": 2, "text": "ovens"}]',
  ],
  'typed-inputs/script-other.yaml': [
    '--input',
    'rows=[{"page": 1, "text": "looms"}, {"page": 2, "text": "ovens"}]',
    '--input',
    'page=2',
    '--input',
    'draft=true',
  ],
};
/** Scripts of ways that end as failed. */
const FAILED = ['script-limit.yaml', 'script-one.yaml', 'script-unsafe.yaml'];
/** It lets its agent look at the log of Git, in words of its own. */
const WARNED: Readonly<Record<string, readonly string[]>> = {
  'project-notes': ['rule-of-two'],
};

describe.each(SCRIPTS)('%s with %s', (name, script) => {
  test('ends alike with run and with exec, which shows what every step has given', async () => {
    const cwd = await projectOf(name);
    const words = [
      `examples/${name}/workflow.yaml`,
      `--mock=examples/${name}/${script}`,
      '--no-store',
      ...(GIVEN[`${name}/${script}`] ?? []),
    ];
    const ran = await served(['run', ...words, '--json'], { cwd });
    const executed = await served(['exec', ...words], { cwd });
    expect(executed.code).toBe(ran.code);
    expect(ran.code).toBe(FAILED.includes(script) ? 3 : 0);
    const context = contextOf(executed);
    expect(context.order).toEqual(Object.keys(context.steps));
    const { steps } = documentOf(ran);
    const agents = Object.values(context.steps).filter(({ agent }) => agent !== undefined);
    // The draft of the one with types has no agent beside the one of the file that it calls.
    if (!words.includes('draft=true')) expect(agents.length).toBeGreaterThan(0);
    for (const { output } of agents) expect(Object.values(steps).map((step) => step.output)).toContainEqual(output);
    // Values of the file have stdout to themselves.
    const givesValues = documentOf(ran).result !== undefined;
    if (givesValues) expect(JSON.parse(executed.stdout)).toEqual(documentOf(ran).result);
    const said = givesValues ? executed.stderr : executed.stdout;
    for (const { output, agent } of agents) {
      expect(said).toContain(`--- Agent: ${agent} `);
      if (typeof output === 'string') expect(said).toContain(output.trim());
    }
  });
});

test.each(PIPELINES)('%s is validated, planned and drawn', async (name) => {
  const file = `examples/${name}/workflow.yaml`;
  const validated = await served(['validate', file], { cwd: ROOT });
  expect(validated.code).toBe(0);
  expect([...validated.stderr.matchAll(/: (?:warning|error) ([\w-]+):/g)].map(([, code]) => code)).toEqual(
    WARNED[name] ?? [],
  );
  const planned = await served(['plan', file], { cwd: ROOT });
  expect(planned.code).toBe(0);
  expect(planned.stdout).toContain('model calls');
  const drawn = await served(['graph', file, '--format', 'mermaid'], { cwd: ROOT });
  expect([drawn.code, drawn.stdout.split('\n', 1)[0]]).toEqual([0, 'flowchart TD']);
});

test('a recorded run of a pipeline is forked: what comes before the step is reused', async () => {
  const cwd = await projectOf('generate-translate-publish');
  const file = 'examples/generate-translate-publish/workflow.yaml';
  await served(['run', file, '--mock'], { cwd });
  const forked = await served(['fork', '-1', '--from', 'step_3'], { cwd });
  expect(forked.code).toBe(0);
  expect([...forked.stderr.matchAll(/^step (\S+) reused/gm)].map(([, step]) => step)).toEqual(['step_1', 'step_2']);
  expect(forked.stderr).toMatch(/^step step_3 succeeded/m);
});

describe('decision 10: skein exec FILE [PROMPT | -]', () => {
  const FILE = 'examples/generate-translate-publish/workflow.yaml';

  test.each([
    ['an argument', ['Announce the bicycle'], '', 'Announce the bicycle'],
    ['stdin', ['-'], 'Announce\nthe bicycle\n', 'Announce\nthe bicycle'],
    ['nothing', [], '', 'Please proceed.'],
  ])('the prompt is %s', async (_, words, input, prompt) => {
    const cwd = await projectOf('generate-translate-publish');
    const ended = await served(['exec', FILE, '--mock', '--no-store', ...words], { cwd, input });
    expect(ended.code).toBe(0);
    expect(String(contextOf(ended).steps['step_1']?.output).trimEnd()).toBe(prompt);
  });

  test('with --json stdout is one document, with the context in it', async () => {
    const cwd = await projectOf('parallel-drafts');
    const script = '--mock=examples/parallel-drafts/script.yaml';
    const ended = await served(['exec', 'examples/parallel-drafts/workflow.yaml', script, '--no-store', '--json'], {
      cwd,
    });
    const { context, outcome } = documentOf(ended) as unknown as { context: Context; outcome: string };
    expect(outcome).toBe('succeeded');
    // A parallel block is the keyed map of the source document, with its order.
    expect(context.steps['par_gen']).toMatchObject({
      steps: { gen_1: { agent: 'generator' }, gen_2: { agent: 'generator' } },
      order: ['gen_1', 'gen_2'],
    });
    expect(ended.stderr).not.toContain('--- Step Context ---');
  });
});
