import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { hasErrors } from '../../src/base/problem.js';
import { readScript } from '../../src/agent/script/read-script.js';
import { loadDag } from '../../src/yaml.js';
import { CORPUS, hasCorpus } from './corpus.js';
import { makeProject } from './project.js';

const FOLDER = join(CORPUS, 'malformed');
const files = hasCorpus()
  ? readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  : [];

/** Each file as it is, with bytes that are no text, in every place where a user can name a file. */
describe.skipIf(files.length === 0)('malformed files, byte for byte', () => {
  it('are there', () => {
    expect(files.length).toBeGreaterThan(600);
  });

  it('are refused as workflows, every problem with a place and a hint', async () => {
    for (const file of files) {
      const { plan, problems } = await loadDag(file, { cwd: FOLDER });
      expect(plan, file).toBeUndefined();
      expect(hasErrors(problems), file).toBe(true);
      for (const { at, hint, message } of problems) {
        expect(at?.line, file).toBeGreaterThan(0);
        expect(hint, `${file}: ${message}`).toBeDefined();
      }
    }
  });

  it('are refused as agents, at the place where they are named or in the file', async () => {
    const agents = files.map((file, at) => `  a${at}: {file: ${JSON.stringify(file)}}\n`).join('');
    const cwd = await makeProject({
      'f.yaml': `name: t\nagents:\n${agents}steps: [{id: s, agent: a0, prompt: p}]\n`,
    });
    const { plan, problems } = await loadDag('f.yaml', { cwd });
    expect(plan).toBeUndefined();
    const errors = problems.filter((problem) => problem.severity === 'error');
    const accused = new Set(errors.map(({ at }) => (at?.file === 'f.yaml' ? files[at.line - 3] : at?.file)));
    expect(accused.size).toBeGreaterThanOrEqual(files.length - 1);
  });

  it('are refused as scripts by one error, but for those that are an empty script', () => {
    const accepted = files.filter((file) => {
      try {
        return readScript(readFileSync(file, 'utf8'), file).rules.length === 0;
      } catch (error) {
        if (!SkeinError.isInstance(error)) throw error;
        expect([file, error.code]).toEqual([file, 'SKEIN_DEFINITION']);
        return false;
      }
    });
    expect(accepted.map((file) => basename(file))).toEqual([
      'i_structure_UTF-8_BOM_empty_object.json',
      'y_object_empty.json',
    ]);
  });
});
