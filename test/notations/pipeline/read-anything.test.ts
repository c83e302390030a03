import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblem, hasErrors } from '../../../src/base/problem.js';
import { loadPipeline, loadPipelineText, loadWorkflow } from '../../../src/yaml.js';
import { cases } from '../../thorough.js';
import { changedTexts } from '../changed-texts.js';
import { CORPUS, hasCorpus } from '../corpus.js';
import { readFile } from './read-pipeline.js';

const there = hasCorpus();
const MALFORMED = join(CORPUS, 'malformed');
const CAGENT = join(CORPUS, 'workflows/cagent');
const malformed = there
  ? readdirSync(MALFORMED, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  : [];

describe.skipIf(!there)('files of the corpus', () => {
  it('that are malformed are refused, every problem with a place and a hint', async () => {
    expect(malformed.length).toBeGreaterThan(600);
    for (const file of malformed) {
      for (const load of [loadPipeline, loadWorkflow]) {
        const { plan, problems } = await load(file, { cwd: MALFORMED });
        expect(plan, file).toBeUndefined();
        expect(hasErrors(problems), file).toBe(true);
        for (const { at, hint, message } of problems) {
          expect(at?.line, file).toBeGreaterThan(0);
          expect(hint, `${file}: ${message}`).toBeDefined();
        }
      }
    }
  });

  it('of agents load, and name what is not supported with its line', async () => {
    const files = readdirSync(CAGENT);
    expect(files.length).toBeGreaterThanOrEqual(5);
    for (const file of files) {
      const { plan, problems } = await loadWorkflow(join(CAGENT, file), { cwd: CAGENT, lenient: true });
      expect(plan?.notation, `${file}\n${problems.map(formatProblem).join('\n')}`).toBe('pipeline');
      expect(plan?.name).toBe(basename(file, '.yaml'));
      for (const { code, at } of problems) {
        expect(code, file).toBe('not-supported');
        expect(at?.line, file).toBeGreaterThan(1);
      }
    }
  });
});

const WHOLE = `version: "4"
agents:
  root: {model: openai/gpt-5-mini, instruction: "You had {{ $prompt }}"}
  qa: {structured_output: {name: q, schema: {type: object, properties: {ok: {type: boolean}}}}}
workflow:
  max_loop_iterations: 3
  steps:
    - {id: x, type: agent, name: root, timeout: 5s, retry: {max_attempts: 2, on: [timeout]}}
    - id: par
      type: parallel
      on_error: continue
      steps:
        - {type: agent, name: root}
        - {type: map, over: "{{ $steps.x.output }}", as: one, steps: [{type: agent, name: root, prompt: "{{ $one }}"}]}
    - {id: qa, type: agent, name: qa}
    - type: condition
      condition: "{{ $steps.qa.output.ok }}"
      true:
        - {type: ask, question: Sure?, choices: [yes, no], expires: 1h, on_expire: {answer: no}}
      false: {goto: x}
`;

describe('any file at all', () => {
  it('with a few characters changed has a plan or errors, never both and never a throw', async () => {
    await fc.assert(
      fc.asyncProperty(changedTexts(WHOLE, ['$']), async (text) => {
        const { plan, problems } = await loadPipelineText(text, { cwd: '/nowhere' });
        expect(plan === undefined).toBe(hasErrors(problems));
        const lines = text.split('\n').length;
        for (const { at, message, hint } of problems) {
          expect(at?.line ?? 1).toBeLessThanOrEqual(lines);
          expect(message + (hint ?? '')).not.toMatch(/\p{Cc}/u);
        }
      }),
      { numRuns: cases(75) },
    );
    expect((await loadPipelineText(WHOLE, { cwd: '/nowhere' })).problems).toEqual([]);
  });

  it('with values of any kind in any place gives problems and no throw', async () => {
    const values = ['7', 'true', 'text', '[]', '[[1]]', '{}', '{a: {b: [c]}}', '[{id: {}}]', '~', '[~]', '{goto: x}'];
    const keys = [
      'id',
      'type',
      'name',
      'prompt',
      'timeout',
      'on_error',
      'retry',
      'condition',
      'true',
      'false',
      'steps',
    ];
    const more = [
      'over',
      'as',
      'key',
      'max_items',
      'question',
      'choices',
      'schema',
      'expires',
      'on_expire',
      'file',
      'goto',
    ];
    for (const [of, type] of ['agent', 'condition', 'parallel', 'goto', 'map', 'ask', 'call'].entries()) {
      for (const key of [...keys, ...more]) {
        // Each key meets each value, though not in each type.
        for (const value of values.filter((_, at) => (at + of) % 3 === 0)) {
          const step = { type, name: 'a', [key]: 'VALUE' };
          const text = `agents: {a: {}}\nworkflow: [${JSON.stringify(step).replace('"VALUE"', value)}]\n`;
          const { plan, problems } = await loadPipelineText(text, { cwd: '/nowhere' });
          expect(plan === undefined, text).toBe(hasErrors(problems));
        }
      }
    }
    for (const section of ['version', 'metadata', 'models', 'providers', 'mcps', 'permissions', 'agents', 'workflow']) {
      for (const value of values) {
        const rest = WHOLE.split(/^(?=\w)/m).filter((part) => !part.startsWith(`${section}:`));
        const { plan, problems } = await loadPipelineText(`${rest.join('')}${section}: ${value}\n`, {
          cwd: '/nowhere',
        });
        expect(plan === undefined, `${section}: ${value}`).toBe(hasErrors(problems));
      }
    }
  });

  it('names that mean something to the host are refused or plain names', () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const { problems } = readFile(
        `agents: {a: {}}\n${name}: 1\nworkflow: [{type: agent, name: a, id: ${name}, ${name}: 1}]\n`,
      );
      expect(problems.filter(({ code }) => code === 'forbidden-name')).toHaveLength(3);
    }
    for (const name of ['toString', 'valueOf', 'hasOwnProperty']) {
      const { definition, problems } = readFile(`agents: {a: {}}\nworkflow: [{type: agent, name: a, id: ${name}}]\n`);
      expect(problems).toEqual([]);
      expect(definition?.steps).toMatchObject([{ id: name }]);
    }
  });

  it('has messages of visible characters, whatever the names in it', () => {
    const name = JSON.stringify('\u001B]0;owned\u0007 \u202E');
    const text = `agents: {a: {}}\n${name}: 1\nworkflow: [{type: ${name}}, {type: agent, name: a, id: ${name}, ${name}: 1, on_error: ${name}, timeout: ${name}}]\n`;
    const { problems } = readFile(text);
    expect(problems.length).toBeGreaterThanOrEqual(6);
    for (const { message, hint } of problems) expect(message + (hint ?? '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('with thousands of mistakes lists them up to ten thousand', () => {
    const text = `agents: {a: {}}\nworkflow:\n${'  - {type: agnet}\n'.repeat(12_000)}`;
    expect(readFile(text).problems).toHaveLength(10_000);
  });
});
