import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatProblem, runOrThrow } from 'skein';
import { loadDagText, loadPipelineText } from 'skein/yaml';
import { readScript } from '../../src/agent/script/read-script.js';
import { createFindings } from '../../src/text/findings.js';
import { readAgentFile } from '../../src/notations/dag/agent-file.js';
import { ROOT } from './support/run-example.js';
import { completePipeline, completeWorkflow, docSnippets } from './support/snippets.js';
import type { Snippet } from './support/snippets.js';

const SNIPPETS = await docSnippets();
const of = (language: string): readonly Snippet[] => SNIPPETS.filter((snippet) => snippet.language === language);
const isScript = (snippet: Snippet): boolean => /^rules:/m.test(snippet.text);
const isPipeline = ({ place, text }: Snippet): boolean =>
  place.startsWith('docs/pipeline.md:') || /^workflow:/m.test(text);

describe('YAML in the documentation', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-docs-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Makes the files that a snippet names. */
  async function makeFiles(text: string): Promise<void> {
    const agents = [...text.matchAll(/file: (\S+\.md)/g)].map((match) => [match[1] ?? '', '---\nname: x\n---\nHello']);
    const skills = [...text.matchAll(/skills: \[([^\]]*)\]/g)].flatMap((match) =>
      (match[1] ?? '').split(',').map((skill) => [`${skill.trim()}/SKILL.md`, 'Hello']),
    );
    const called = [...text.matchAll(/file: (\S+\.yaml)/g)].map((match) => [match[1] ?? '', completePipeline('')]);
    for (const [path = '', content = ''] of [...agents, ...skills, ...called]) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  }

  test.each(of('yaml').filter((snippet) => !isScript(snippet)))(
    '$place is a workflow without problems',
    async (snippet) => {
      await makeFiles(snippet.text);
      const workflow = isPipeline(snippet)
        ? await loadPipelineText(completePipeline(snippet.text), { cwd: folder })
        : await loadDagText(completeWorkflow(snippet.text), { cwd: folder });
      expect(workflow.problems.map(formatProblem)).toEqual([]);
      expect(workflow.plan).toBeDefined();
    },
  );

  test.each(of('yaml').filter(isScript))('$place is a script', ({ text, place }) => {
    expect(readScript(text, place).rules.length).toBeGreaterThan(0);
  });
});

test('the first workflow of docs/dag.md runs with --mock', async () => {
  const first = of('yaml').find((snippet) => snippet.place.startsWith('docs/dag.md:'));
  const workflow = await loadDagText(first?.text ?? '', { cwd: ROOT });
  const state = await runOrThrow(workflow, { models: { env: {}, mock: true } });
  expect(state['steps.check.output']).toContain('Correct what is wrong or unclear in this text: ');
  expect(state['steps.check.output']).toContain('Explain this: tides');
});

test('the first pipeline of docs/pipeline.md runs with --mock, and its first prompt is the one that is shown', async () => {
  const first = of('yaml').find((snippet) => snippet.place.startsWith('docs/pipeline.md:'));
  const shown = SNIPPETS.find(({ place, language }) => place.startsWith('docs/pipeline.md:') && language === 'text');
  const workflow = await loadPipelineText(first?.text ?? '', { cwd: ROOT });
  const prompt = 'Announce the folding bicycle';
  const prompts: string[] = [];
  const state = await runOrThrow(workflow, {
    inputs: { prompt },
    models: { env: {}, mock: true },
    listeners: [
      (event) => event.type === 'step.note' && event.note.kind === 'prompt' && prompts.push(event.note.prompt),
    ],
  });
  expect(state['steps.step_1.output']).toBe(prompt);
  const told = 'A bicycle for the train. It folds in ten seconds.';
  expect(`${prompts[1]}\n`).toBe(shown?.text.replace(told, prompt));
});

test.each(of('markdown'))('$place is an agent file', ({ text, place }) => {
  const findings = createFindings();
  const agent = readAgentFile(text, place, findings);
  expect(findings.list).toEqual([]);
  expect(agent?.body).not.toBe('');
});

test.each(of('json'))('$place is JSON', ({ text }) => {
  expect(JSON.parse(text)).toBeDefined();
});

/** Where flags stand that commands have in common. */
const SHARED = [
  [['run', 'exec', 'resume', 'fork', 'event', 'validate', 'plan', 'graph', 'convert'], 'run/run-options'],
  [['run', 'exec'], 'run/thread-options'],
  [['run', 'fork', 'plan'], 'run/given-inputs'],
] as const satisfies readonly (readonly [readonly string[], string])[];

describe('commands in the documentation and in the READMEs of the examples', async () => {
  const commands = SNIPPETS.filter((snippet) => snippet.language === 'sh').flatMap(linesOf);
  const examples = await readdir(join(ROOT, 'examples'));
  for (const name of examples) {
    const text = await readFile(join(ROOT, 'examples', name, 'README.md'), 'utf8').catch(() => '');
    commands.push(...text.split('\n').filter((line) => line.startsWith('skein ')));
  }
  const skein = commands.filter((line) => line.startsWith('skein ')).map((line) => line.replace(/\s#.*$/, ''));

  test.each([...new Set(skein)])('%s', async (line) => {
    const [, command = ''] = line.split(/\s+/);
    const file = command === 'help' ? 'program' : `commands/${command}`;
    const shared = SHARED.filter(([users]) => (users as readonly string[]).includes(command)).map(([, name]) => name);
    const texts = [file, ...shared].map((name) => readFile(join(ROOT, `src/cli/${name}.ts`), 'utf8'));
    const source = (await Promise.all(texts)).join('\n');
    for (const [flag] of line.matchAll(/(?<=\s)--[a-z-]+/g)) expect(source).toContain(flag);
    for (const [path] of line.matchAll(/examples\/[\w./-]+/g)) {
      expect(existsSync(join(ROOT, path)), path).toBe(true);
    }
  });
});

function linesOf(snippet: Snippet): readonly string[] {
  return snippet.text.split('\n');
}
