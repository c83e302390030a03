import { readdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadDagText } from 'skein/yaml';
import { PROVIDER_NAMES } from '../../src/plan/providers.js';
import { BUILT_IN_TOOLS } from '../../src/plan/built-in-tools.js';
import { selectTools } from '../../src/plan/tool-names.js';
import { createToolProvider } from '../../src/agent/tools/provider.js';
import { EXIT } from '../../src/cli/failures.js';
import { runWorkflow } from '../../src/runtime.js';
import { ROOT, exampleFile } from './support/run-example.js';
import { codeWords, keysBelow, tableBelow } from './support/tables.js';

const DAG = 'docs/dag.md';
const TOOLS = 'docs/tools.md';

/** The keys that a part of a workflow file may have, as the loader itself lists them. */
async function knownKeys(yaml: string): Promise<readonly string[]> {
  const { problems } = await loadDagText(yaml, { cwd: ROOT });
  const hint = problems.find((problem) => problem.code === 'unknown-key')?.hint ?? '';
  return hint.replace('known keys: ', '').split(', ').toSorted();
}

const STEP = 'steps: [{ id: a, agent: b, prompt: c }]\nagents: { b: { inline: { prompt: d } } }\nname: x\n';

describe('the tables of keys say what the loader knows, no more and no less', () => {
  test.each([
    ['## The file', 0, `${STEP}qqqqqqqq: 1\n`],
    ['### Inputs', 0, `${STEP}inputs: { i: { qqqqqqqq: 1 } }\n`],
    ['### Config', 0, `${STEP}config: { qqqqqqqq: 1 }\n`],
    ['### Agents', 0, 'name: x\nsteps: [{ id: a, agent: b, prompt: c }]\nagents: { b: { inline: { qqqqqqqq: d } } }\n'],
    ['### Steps', 0, 'name: x\nsteps: [{ id: a, agent: b, prompt: c, qqqqqqqq: 1 }]\n'],
    ['### Output', 0, `${STEP}output: { qqqqqqqq: 1 }\n`],
    ['## Conditions', 0, 'name: x\nsteps: [{ id: a, agent: b, prompt: c, condition: { qqqqqqqq: 1 } }]\n'],
    ['## Truncation', 0, `${STEP}config: { truncate: { qqqqqqqq: 1 } }\n`],
    ['### Providers', 0, `${STEP}config: { provider: { qqqqqqqq: 1 } }\n`],
    ['## Shared memory', 0, `${STEP}config: { shared_memory: { qqqqqqqq: 1 } }\n`],
  ])('%s', async (heading, skip, yaml) => {
    expect((await keysBelow(DAG, heading, skip)).toSorted()).toEqual(await knownKeys(yaml));
  });
});

test('62: the types of providers are those that models can have, in the table and in the loader', async () => {
  const row = (await tableBelow(DAG, '### Providers')).find((cells) => codeWords(cells[0])[0] === 'type');
  const types = codeWords(row?.[1]);
  expect(types.toSorted()).toEqual(PROVIDER_NAMES.toSorted());
  for (const type of types) {
    const { problems } = await loadDagText(`${STEP}config: { provider: { type: ${type} } }\n`, { cwd: ROOT });
    expect(problems).toEqual([]);
  }
});

test('the table of exit codes has all of them', async () => {
  const codes = (await tableBelow(DAG, '## Command line and exit codes')).map((row) => Number(row[0]));
  expect(codes).toEqual(Object.values(EXIT));
});

describe('docs/tools.md', () => {
  test('lists the built-in tools with the names of their inputs', async () => {
    const rows = await tableBelow(TOOLS, '## The built-in tools');
    expect(rows.flatMap((row) => codeWords(row[0]))).toEqual([...BUILT_IN_TOOLS]);
    const source = await createToolProvider({ cwd: ROOT, env: {} }).open(
      { name: 'a', instructions: [], models: [], tools: ['*'] },
      { runId: 'r', path: 'p', agent: 'a', signal: new AbortController().signal, warn: () => undefined },
    );
    await source.close();
    for (const tool of source.tools) {
      const row = rows.find((cells) => codeWords(cells[0])[0] === tool.name);
      const { properties } = tool.inputSchema;
      expect([tool.name, codeWords(row?.[1]).toSorted()]).toEqual([
        tool.name,
        Object.keys(properties ?? {}).toSorted(),
      ]);
    }
  });

  test('says of each other name which tool it means', async () => {
    for (const row of await tableBelow(TOOLS, '### Searching and other names')) {
      const [tool] = codeWords(row[0]);
      for (const alias of codeWords(row[1])) {
        expect([alias, ...selectTools([alias], []).builtIn.values()]).toEqual([alias, tool]);
      }
    }
  });

  test('an agent without a list has the tools that only read', () => {
    expect([...selectTools(undefined, []).builtIn.keys()]).toEqual(['read_file', 'list_dir', 'glob', 'grep']);
    expect(selectTools(['Bash(git log:*)'], [])).toMatchObject({ builtIn: new Map(), unknown: ['Bash(git log:*)'] });
  });

  test('lists the keys of MCP servers', async () => {
    const keys = await keysBelow(TOOLS, '## MCP servers');
    expect(keys.toSorted()).toEqual(['args', 'command', 'env', 'headers', 'sandbox', 'tools', 'type', 'url']);
  });
});

test('75, 76: the run folder is as docs/dag.md draws it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'skein-audit-'));
  try {
    const file = exampleFile('code-review');
    const text = (await readFile(file, 'utf8')).replace('config:\n', 'config:\n  streaming: true\n');
    const { result } = await runWorkflow(await loadDagText(text, { cwd: ROOT, file }), {
      cwd: ROOT,
      audit: { dir },
      models: { env: {}, script: exampleFile('code-review', 'script.yaml') },
    });
    const { outcome, auditFolder = '' } = await result;
    expect(outcome).toBe('succeeded');
    const drawn = /## The audit folder[\s\S]*?```text\n([\s\S]*?)```/.exec(
      await readFile(join(ROOT, DAG), 'utf8'),
    )?.[1];
    const names = [...(drawn ?? '').matchAll(/^ +([\w./]+)/gm)].map((match) => match[1] ?? '');
    const isOfStep = (name: string): boolean =>
      ['stream.jsonl', 'system.md', 'prompt.md', 'output.md', 'step.meta.json'].includes(name);
    const top = names.filter((name) => !isOfStep(name) && !name.startsWith('steps/'));
    const written = (await readdir(auditFolder)).filter((name) => !name.startsWith('.') && name !== 'steps');
    expect(written.toSorted()).toEqual(top.toSorted());
    expect((await readdir(join(auditFolder, 'steps/00_summary'))).toSorted()).toEqual(
      names.filter(isOfStep).toSorted(),
    );
    expect(await readdir(join(auditFolder, 'steps/03_approval'))).toEqual(['step.meta.json']);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
