import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../src/base/json.js';
import { loadDagText } from '../../src/yaml.js';
import { toJson } from '../../src/text/nodes.js';
import { parseYaml } from '../../src/text/yaml.js';
import { CORPUS, hasCorpus, suiteText } from './corpus.js';

interface SuiteCase {
  readonly id: string;
  readonly text: string;
  readonly fail: boolean;
  readonly json: string | undefined;
}

function readSuite(): readonly SuiteCase[] {
  const folder = join(CORPUS, 'malformed/yaml-test-suite');
  return readdirSync(folder).flatMap((name) => {
    let json: string | undefined;
    let text = '';
    const cases = parse(readFileSync(join(folder, name), 'utf8')) as { yaml?: string; json?: string; fail?: boolean }[];
    return cases.map((entry, index) => {
      // A case that leaves something out means that of the case before it.
      text = entry.yaml ?? text;
      json = entry.fail === true ? undefined : 'json' in entry ? entry.json : json;
      const id = `${name.replace('.yaml', '')}-${index}`;
      return { id, text: suiteText(text), fail: entry.fail === true, json: json ?? undefined };
    });
  });
}

/** The parser takes a second %YAML directive that YAML 1.2 forbids; the data is not affected. */
const ACCEPTED_ALL_THE_SAME = ['SF5V-0'];

/** Valid YAML that is more than one document, has tags, or keys that are no text or there twice: refused on purpose. */
const REFUSED_ON_PURPOSE = ['bad-key', 'yaml-tag', 'yaml-documents', 'duplicate-key'];

/** Unknown directives and versions, and anchors whose name ends in a colon, which no person reads that way. */
const ODD = [
  '2LFX-0',
  '2SXE-0',
  '6LVF-0',
  'BEC7-0',
  'MUS6-5',
  'MUS6-6',
  'W5VH-0',
  'ZYU8-0',
  'ZYU8-1',
  'ZYU8-2',
  'ZYU8-3',
];

const found = hasCorpus();

describe.skipIf(!found)('the YAML test suite', () => {
  // The body is run also where its tests are skipped.
  const suite = found ? readSuite() : [];

  it('is read whole', () => {
    expect(suite.filter((entry) => entry.fail)).toHaveLength(94);
    expect(suite).toHaveLength(406);
  });

  it('T11: every case that must fail is refused with a place', () => {
    const accepted = suite.filter((entry) => entry.fail && parseYaml(entry.text, entry.id).problems.length === 0);
    expect(accepted.map((entry) => entry.id)).toEqual(ACCEPTED_ALL_THE_SAME);
    for (const entry of suite) {
      for (const problem of parseYaml(entry.text, entry.id).problems) {
        expect(problem.at?.line, `${entry.id}: ${problem.message}`).toBeGreaterThan(0);
        expect(problem.at?.column, `${entry.id}: ${problem.message}`).toBeGreaterThan(0);
      }
    }
  });

  it('what is accepted has the values that the suite says', () => {
    let compared = 0;
    for (const { id, text, fail, json } of suite) {
      const { root, problems } = parseYaml(text, id);
      if (fail || problems.length > 0 || json === undefined) continue;
      let wanted: Json;
      try {
        wanted = JSON.parse(json) as Json;
      } catch {
        continue;
      }
      compared += 1;
      expect(root === undefined ? null : toJson(root), id).toEqual(wanted);
    }
    expect(compared).toBeGreaterThan(230);
  });

  it('valid cases are refused only for what is not supported', () => {
    const odd = suite.filter((entry) => {
      if (entry.fail) return false;
      const codes = parseYaml(entry.text, entry.id).problems.map((problem) => problem.code);
      return codes.some((code) => !REFUSED_ON_PURPOSE.includes(code));
    });
    expect(odd.map((entry) => entry.id)).toEqual(ODD);
  });
});

describe.skipIf(!hasCorpus())('malformed files as workflows', () => {
  const folders = ['malformed/yaml-test-suite', 'malformed/json-test-suite', 'malformed/naughty-strings'];
  it.each(folders)('all of %s are refused, with problems and without a throw', async (folder) => {
    const names = readdirSync(join(CORPUS, folder));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const text = readFileSync(join(CORPUS, folder, name), 'utf8');
      const workflow = await loadDagText(text, { cwd: CORPUS, file: name });
      expect(workflow.plan, name).toBeUndefined();
      expect(
        workflow.problems.some((problem) => problem.severity === 'error'),
        name,
      ).toBe(true);
    }
  });

  it('T12: naughty strings as values are data, and refused as ids when they are none', async () => {
    const strings = JSON.parse(readFileSync(join(CORPUS, 'malformed/naughty-strings/blns.json'), 'utf8')) as string[];
    expect(strings.length).toBeGreaterThan(400);
    for (const text of strings) {
      const quoted = JSON.stringify(text).replaceAll('\u007F', '\\u007f');
      const source = (id: string): string =>
        `name: n\nagents: {a: {inline: {prompt: p}}}\nsteps:\n  - id: ${id}\n    agent: a\n    prompt: ${JSON.stringify(`x ${text}`)}\n`;
      const asValue = await loadDagText(source('ok'), { cwd: CORPUS });
      expect(asValue.problems, text).toEqual([]);
      const asId = await loadDagText(source(quoted), { cwd: CORPUS });
      const isName = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(text);
      expect(asId.plan !== undefined, text).toBe(isName);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
