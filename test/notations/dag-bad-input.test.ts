import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasErrors } from '../../src/base/problem.js';
import { loadDag, loadDagText } from '../../src/yaml.js';
import { cases } from '../thorough.js';
import { changedTexts } from './changed-texts.js';
import { brief, flow, load, makeProject, nodeOf } from './project.js';

const STEPS = 'steps: [{id: s, agent: x, prompt: p}]\n';

describe('files that are too much', () => {
  it.each([
    ['a bomb', `a: &a [l,l,l,l,l,l,l,l,l]\n${'bcdefghi'.replaceAll(/./g, (name) => bombLine(name))}`],
    ['100,000 brackets', `name: x\nsteps: ${'['.repeat(100_000)}`],
    ['100,000 dashes', `name: x\nsteps:\n${'- '.repeat(100_000)}`],
    ['2,000 levels of indentation', Array.from({ length: 1_400 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  ])('%s', async (_, text) => {
    const workflow = await load(text);
    expect(workflow.plan).toBeUndefined();
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['yaml-limit']);
    expect(workflow.problems[0]?.at?.line).toBeGreaterThan(0);
  });

  it('10 MB as a workflow file, and as a text', async () => {
    const text = `name: x\n# ${'x'.repeat(10_000_000)}\n`;
    const fromFile = await load(text);
    expect(fromFile.problems).toMatchObject([{ code: 'file-too-large', at: { file: 'flow.yaml' } }]);
    const fromText = await loadDagText(text, { cwd: await makeProject() });
    expect(fromText.problems).toMatchObject([{ code: 'yaml-limit' }]);
  });

  it('10 MB as an agent file', async () => {
    const workflow = await load(`name: t\nagents: {x: {file: big.md}}\n${STEPS}`, {
      'big.md': `---\nname: x\n---\n${'x'.repeat(10_000_000)}`,
    });
    expect(brief(workflow.problems)).toEqual(['2:20 error file-too-large']);
  });
});

describe('files that cannot be read', () => {
  it('a missing agent file', async () => {
    const workflow = await load(`name: t\nagents: {x: {file: agents/nope.md}}\n${STEPS}`);
    expect(brief(workflow.problems)).toEqual(['2:20 error file-missing']);
    expect(workflow.problems[0]?.message).toContain('agents/nope.md');
  });

  it('a directory in place of a file', async () => {
    const workflow = await load(`name: t\nagents: {x: {file: agents}}\n${STEPS}`, { 'agents/a.md': 'x' });
    expect(brief(workflow.problems)).toEqual(['2:20 error file-directory']);
    const cwd = await makeProject();
    expect((await loadDag('.', { cwd })).problems.map((problem) => problem.code)).toEqual(['file-directory']);
  });

  it('a binary file, and a file in another encoding', async () => {
    const cwd = await makeProject();
    await writeFile(join(cwd, 'zero.yaml'), Buffer.from([0x6e, 0x00, 0x61]));
    await writeFile(join(cwd, 'latin.yaml'), Buffer.from([0x6e, 0x3a, 0x20, 0xe9, 0x0a]));
    for (const name of ['zero.yaml', 'latin.yaml']) {
      expect((await loadDag(name, { cwd })).problems).toMatchObject([{ code: 'file-binary' }]);
    }
  });

  it('a device is refused before anything is read from it', async () => {
    const workflow = await loadDag('/dev/zero', { cwd: await makeProject() });
    expect(workflow.problems).toMatchObject([{ code: 'file-special' }]);
  });

  it('an agent folder that cannot be read', async () => {
    const cwd = await makeProject({
      'f.yaml': `name: t\nconfig: {agent_search_paths: [loop, plain]}\n${STEPS}`,
      plain: 'a file',
    });
    // A link to itself cannot be opened by anybody, not even by root.
    await symlink('loop', join(cwd, 'loop'));
    const workflow = await loadDag('f.yaml', { cwd });
    expect(brief(workflow.problems)).toEqual([
      '2:31 error file-unreadable',
      '2:37 error file-not-a-directory',
      '3:24 error unknown-agent',
    ]);
  });

  it('a standard agent folder that cannot be read is reported at the step that needs it', async () => {
    const workflow = await load(`name: t\n${STEPS}`, { '.github/agents': 'a file' });
    expect(brief(workflow.problems)).toContain('2:24 error file-not-a-directory');
  });

  it('no folder is read when no step needs it', async () => {
    const workflow = await load(`name: t\nagents: {x: {inline: {prompt: p}}}\n${STEPS}`, {
      '.github/agents': 'a file',
    });
    expect(workflow.problems).toEqual([]);
  });
});

describe('names that mean something to the host', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('%s as id, input, agent, key and server', async (name) => {
    const workflow = await load(
      `name: t
inputs: {${name}: {default: x}}
agents: {${name}: {inline: {mcp-servers: {${name}: {command: x}}}}}
${name}: 1
steps: [{id: ${name}, agent: ${name}, prompt: "{{steps.${name}.output}} {{inputs.${name}}}", ${name}: 1}]
`,
    );
    expect(workflow.plan).toBeUndefined();
    expect(workflow.problems.filter((problem) => problem.code === 'forbidden-name').length).toBeGreaterThanOrEqual(5);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('toString, valueOf and hasOwnProperty are ordinary ids and inputs', async () => {
    const workflow = await load(
      `name: t
inputs: {valueOf: {default: v}}
agents: {hasOwnProperty: {inline: {prompt: p}}}
steps:
  - {id: toString, agent: hasOwnProperty, prompt: "{{inputs.valueOf}}"}
  - {id: s, agent: hasOwnProperty, prompt: "{{steps.toString.output}}", depends_on: [toString], condition: {cel: 'steps.toString.output != ""'}}
`,
    );
    expect(workflow.problems).toEqual([]);
    expect(nodeOf(workflow, 's').prompt).toEqual([{ channel: 'steps.toString.output' }]);
    expect((await load(`name: t\nagents: {a: {inline: {}}}\n${STEPS.replace('x', 'toString')}`)).plan).toBeUndefined();
  });
});

describe('files of other kinds', () => {
  it.each([
    ['a pipeline', 'version: 2\nworkflow:\n  - agent: x\n', '2:1'],
    ['a team of agents', 'agents:\n  root: {model: x, instruction: y}\n', '1:1'],
    ['a PromptPack', '$schema: x\nid: a\nname: b\nprompts: {}\n', '4:1'],
    ['a CI workflow', 'name: ci\non: push\njobs: {}\n', '3:1'],
    ['a list', '- a\n- b\n', '1:1'],
    ['a text', 'hello\n', '1:1'],
  ])('%s is said to be no DAG workflow, and nothing else', async (_, text, place) => {
    expect(brief((await load(text)).problems)).toEqual([`${place} error not-a-dag`]);
  });

  it('a misspelt "steps" is still a DAG workflow', async () => {
    const workflow = await load('agents: {a: {inline: {}}}\nstpes: []\n');
    expect(workflow.problems.map((problem) => problem.hint)).toContain('did you mean "steps"?');
  });

  it.each(['', '\n', '# only a comment\n', '---\n', '\uFEFF'])('an empty file (%j)', async (text) => {
    expect((await load(text)).problems.map((problem) => problem.code)).toEqual(['empty-file']);
  });

  it('a byte order mark and CRLF are fine', async () => {
    const text = `\uFEFF${flow('  - {id: s, agent: a, prompt: "{{inputs.no}}"}\n').replaceAll('\n', '\r\n')}`;
    expect(brief((await load(text)).problems)).toEqual(['5:32 error unknown-input']);
  });

  it('names with line ends or of 300 letters are refused', async () => {
    for (const name of ['"a\\nb"', 'x'.repeat(300)]) {
      const workflow = await load(`name: ${name}\nagents: {x: {inline: {}}}\n${STEPS}`);
      expect(brief(workflow.problems)).toEqual(['1:7 error bad-name']);
    }
  });

  it('values of any kind in any place give problems and no throw', async () => {
    const sections = ['name', 'description', 'inputs', 'config', 'agents', 'skills', 'steps', 'output'];
    for (const section of sections) {
      for (const value of ['7', 'true', 'text', '[]', '[[1]]', '{}', '{a: {b: [c]}}', '[{id: {}}]', '~']) {
        const rest = flow('  - {id: s, agent: a, prompt: p}\n')
          .split(/^(?=\w)/m)
          .filter((part) => !part.startsWith(`${section}:`));
        const workflow = await load([...rest, `${section}: ${value}\n`].join(''));
        expect(workflow.plan === undefined, `${section}: ${value}`).toBe(hasErrors(workflow.problems));
      }
    }
  });
});

describe('workflows that are too much', () => {
  const many = (count: number, of: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => of(at)).join('');

  it('references that inline agents multiply', async () => {
    const prompt = '{{inputs.q}}'.repeat(2_000);
    const workflow = await load(
      `name: t\ninputs: {q: }\nagents: {a: {inline: {prompt: "${prompt}"}}}\nsteps:\n${many(30, (at) => `  - {id: s${at}, agent: a, prompt: p}\n`)}`,
    );
    expect(brief(workflow.problems)).toEqual([expect.stringMatching(/^3:\d+ error too-many-references$/)]);
  });

  it('expressions over all steps of a long chain', async () => {
    const step = (at: number): string =>
      `  - {id: s${at}, agent: a, prompt: p${at === 0 ? '' : `, depends_on: [s${at - 1}], condition: {cel: size(steps) > 0}`}}\n`;
    const workflow = await load(flow(many(400, step)));
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['too-many-references']);
  });

  it('thousands of mistakes: all are listed, and no error hides behind warnings', async () => {
    const warnings = `  - {id: s, agent: a, prompt: "${many(1_500, (at) => `{{steps.x${at}}}`)}"}\n`;
    const errors = many(1_500, (at) => `  - {id: t${at}, agent: a, prompt: p, depends_on: [nope${at}]}\n`);
    const both = await load(flow(warnings + errors));
    expect(both.problems.filter((problem) => problem.severity === 'warning')).toHaveLength(1_500);
    expect(both.problems.filter((problem) => problem.severity === 'error')).toHaveLength(1_500);
    const one = await load(flow(`${warnings}  - {id: u, agent: zz, prompt: p}\n`));
    expect(one.plan).toBeUndefined();
  });
});

describe('any workflow at all', () => {
  const WHOLE = `name: t
inputs: {q: {default: x}}
config: {model: m, truncate: {strategy: lines, limit: 3}, shared_memory: {enabled: true}}
agents:
  a: {inline: {prompt: "{{inputs.q}}", tools: [read], mcp-servers: {s: {command: c}}}}
steps:
  - {id: d, agent: a, prompt: p}
  - id: s
    agent: a
    prompt: |
      {{steps.d.output}} {{inputs.q}}
    depends_on: [d]
    condition: {step: d, contains: A, cel: 'output.x > 1'}
    timeout: 5s
output: {steps: [s], format: json}
`;

  it('with a few characters changed has a plan or errors, never both and never a throw', async () => {
    const cwd = await makeProject();
    await fc.assert(
      fc.asyncProperty(changedTexts(WHOLE), async (text) => {
        const { plan, problems } = await loadDagText(text, { cwd });
        expect(plan === undefined).toBe(hasErrors(problems));
        const lines = text.split('\n').length;
        for (const problem of problems) {
          expect(problem.at?.line ?? 1).toBeLessThanOrEqual(lines);
          expect(problem.message).not.toMatch(/\p{Cc}/u);
        }
      }),
      { numRuns: cases(50) },
    );
    expect((await loadDagText(WHOLE, { cwd })).problems).toEqual([]);
  });

  it('has messages of visible characters, whatever the names in it', async () => {
    const name = JSON.stringify('\u001B]0;owned\u0007 \u202E');
    const workflow = await load(
      `name: t\nagents: {${name}: {file: ${name}}}\nsteps: [{id: ${name}, agent: a, prompt: p, depends_on: [${name}, "x\\e"], ${name}: 1}]\n`,
    );
    expect(workflow.problems.length).toBeGreaterThan(4);
    for (const { message, hint } of workflow.problems) expect(message + (hint ?? '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('names a few steps of a long cycle', async () => {
    const steps = Array.from(
      { length: 500 },
      (_, at) => `  - {id: s${at}, agent: a, prompt: p, depends_on: [s${(at + 1) % 500}]}\n`,
    );
    const workflow = await load(flow(steps.join('')));
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['cycle']);
    expect(workflow.problems[0]?.message).toMatch(/ -> \(480 more\) -> /);
  });
});

function bombLine(name: string): string {
  const before = String.fromCodePoint((name.codePointAt(0) ?? 0) - 1);
  return `${name}: &${name} [${`*${before},`.repeat(9)}]\n`;
}
