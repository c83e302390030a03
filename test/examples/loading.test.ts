import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { hasErrors } from 'skein';
import { describe, expect, test } from 'vitest';
import { readScript } from '../../src/agent/script/read-script.js';
import { checkPlan } from '../../src/plan/checks.js';
import { ROOT, exampleFile, isPipeline, loadExample } from './support/run-example.js';

const NAMES = (await readdir(`${ROOT}/examples`, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory() && existsSync(exampleFile(entry.name)))
  .map((entry) => entry.name)
  .toSorted();

/** The scripts of an example. */
async function scriptsOf(name: string): Promise<readonly string[]> {
  return (await readdir(exampleFile(name, '.'))).filter((file) => /^script.*\.yaml$/.test(file));
}

test('there are thirty-one examples in YAML', () => {
  expect(NAMES).toEqual([
    'batch-over-files',
    'cleanup',
    'code-review',
    'decision-helper',
    'fan-out-with-require',
    'fix-until-tests-pass',
    'form-by-questions',
    'generate-translate-publish',
    'guided-code-review',
    'learning-path',
    'localise',
    'moderated-publishing',
    'nested-research',
    'news-trends',
    'nightly-report',
    'parallel-drafts',
    'post-writer',
    'project-notes',
    'release-notes',
    'release-with-a-gate',
    'research-with-a-list',
    'retried-digest',
    'security-scan',
    'simple-sequential',
    'story-writer',
    'supervised-publishing',
    'supervised-release',
    'translate-until-approved',
    'triage-with-cases',
    'typed-inputs',
    'wait-for-an-event',
  ]);
});

describe.each(NAMES)('example %s', (name) => {
  test('loads without a problem, and its plan has none', async () => {
    const workflow = await loadExample(name);
    expect(workflow.problems).toEqual([]);
    // A pipeline has no name of its own: it is called like its file.
    expect(workflow.plan?.name).toBe((await isPipeline(name)) ? 'workflow' : name);
    expect(workflow.plan === undefined ? undefined : checkPlan(workflow.plan)).toEqual([]);
  });

  test('loads from any working directory', async () => {
    const workflow = await loadExample(name, '/');
    expect(hasErrors(workflow.problems)).toBe(false);
  });

  test('has strict scripts in which every rule must be used', async () => {
    const files = await scriptsOf(name);
    expect(files).toContain('script.yaml');
    for (const file of files) {
      const script = readScript(await readFile(exampleFile(name, file), 'utf8'), file);
      expect(script.strict).toBe(true);
      expect(script.rules.filter((rule) => rule.optional || rule.repeat)).toEqual([]);
    }
  });

  test('has a second script when it has conditions', async () => {
    const { plan } = await loadExample(name);
    const parts = plan?.routes.some((route) => (route.cases?.length ?? 0) > 0) ?? false;
    const conditional = parts || (plan?.nodes.some((node) => node.when !== undefined) ?? false);
    expect(conditional ? await scriptsOf(name) : ['script-other.yaml']).toContain('script-other.yaml');
  });

  test('is described in a README that names each of its scripts with the command to run it', async () => {
    const readme = await readFile(exampleFile(name, 'README.md'), 'utf8');
    expect(readme.startsWith(`# ${name}\n`)).toBe(true);
    for (const file of await scriptsOf(name)) {
      const commands = readme
        .split('\n')
        .filter((line) => line.startsWith(`skein run examples/${name}/workflow.yaml `));
      expect(commands.some((line) => ` ${line} `.includes(` --mock=examples/${name}/${file} `))).toBe(true);
    }
  });
});
