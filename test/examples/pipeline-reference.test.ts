import { describe, expect, test } from 'vitest';
import { loadPipelineText } from 'skein/yaml';
import { ROOT } from './support/run-example.js';
import { codeWords, keysBelow, tableBelow } from './support/tables.js';

const DOC = 'docs/pipeline.md';
const AGENTS = 'agents: { a: { instruction: b } }\n';

/** The keys that a part of a pipeline may have, as the loader itself lists them. */
async function knownKeys(yaml: string): Promise<readonly string[]> {
  const { problems } = await loadPipelineText(yaml, { cwd: ROOT });
  const hint = problems.find((problem) => problem.code === 'unknown-key')?.hint ?? '';
  return hint.replace('known keys: ', '').split(', ').toSorted();
}

const step = (keys: string): string =>
  `${AGENTS}workflow: [{ id: first, type: agent, name: a }, { qqqqqqqq: 1, ${keys} }]\n`;
/** Keys of steps that can be tried again. */
const BLOCK = ['when', 'retry', 'timeout', 'on_error', 'supervise', 'budget', 'security', 'endorse'];
const INNER = 'steps: [{ type: agent, name: a }]';

describe('the tables of keys of docs/pipeline.md say what the loader knows, no more and no less', () => {
  test.each([
    ['## The file', 1, `${AGENTS}workflow: { qqqqqqqq: 1, ${INNER} }\n`],
    [
      '### Retry',
      0,
      step('type: agent, name: a, retry: { max_attempts: 1, qqqqqqqq: 1 }').replace('{ qqqqqqqq: 1, type', '{ type'),
    ],
  ])('%s, table %i', async (heading, skip, yaml) => {
    expect((await keysBelow(DOC, heading, skip)).toSorted()).toEqual(await knownKeys(yaml));
  });

  test.each([
    ['### Steps', 2, BLOCK, 'type: agent, name: a'],
    ['## Conditions', 0, ['name'], 'type: condition, condition: $steps.first.output, true: [{ goto: first }]'],
    ['## Lists', 0, BLOCK, `type: map, over: $steps.first.output, ${INNER}`],
    ['## Questions to a person', 0, ['when', 'on_error'], 'type: ask, question: q'],
    ['## Waiting', 0, ['when', 'on_error'], 'type: wait, for: 3s'],
    ['## Other files', 0, BLOCK, 'type: call, file: x.yaml'],
  ])('%s, table %i', async (heading, skip, common, keys) => {
    const documented = [...(await keysBelow(DOC, heading, skip)), 'id', 'type', ...common];
    expect(documented.toSorted()).toEqual(await knownKeys(step(keys)));
  });

  test('## Steps without a model, for both types of such steps', async () => {
    const own = [...(await knownKeys(step('run: [ls]'))), ...(await knownKeys(step('tool: glob')))];
    const common = new Set(['id', 'type', 'name', 'run', 'tool', ...BLOCK]);
    const known = new Set(own.filter((key) => !common.has(key)));
    expect((await keysBelow(DOC, '## Steps without a model', 0)).toSorted()).toEqual([...known].toSorted());
  });

  test('## The file, table 0: all but those that only cagent knows', async () => {
    const known = await knownKeys(`${AGENTS}qqqqqqqq: 1\n`);
    const supported: string[] = [];
    for (const key of known) {
      const { problems } = await loadPipelineText(`${AGENTS}${key}: { x: 1 }\n`, { cwd: ROOT });
      if (!problems.some(({ code }) => code === 'not-supported')) supported.push(key);
    }
    expect((await keysBelow(DOC, '## The file', 0)).toSorted()).toEqual(supported);
  });

  test.each([
    ['an agent', 0, (key: string) => `agents: { a: { instruction: b, ${key} } }\n`],
    ['a model', 2, (key: string) => `${AGENTS}models: { m: { provider: openai, model: x, ${key} } }\n`],
    ['a provider', 3, (key: string) => `${AGENTS}providers: { p: { ${key} } }\n`],
  ])('## Files for cagent, keys of %s', async (_, skip, yaml) => {
    const supported: string[] = [];
    for (const key of await knownKeys(yaml('qqqqqqqq: 1'))) {
      const { problems } = await loadPipelineText(yaml(`${key}: [x]`), { cwd: ROOT });
      if (!problems.some(({ code }) => code === 'not-supported')) supported.push(key);
    }
    expect((await keysBelow(DOC, '## Files for cagent', skip)).toSorted()).toEqual(supported);
  });

  test('## Files for cagent, toolsets and their tools', async () => {
    const types = await keysBelow(DOC, '## Files for cagent', 1);
    const toolset = (type: string): string => `agents: { a: { instruction: b, toolsets: [{ type: ${type} }] } }\n`;
    const { problems } = await loadPipelineText(toolset('qqqqqqqq'), { cwd: ROOT });
    expect(types.toSorted()).toEqual(problems[0]?.hint?.replace('one of: ', '').split(', ').toSorted());
    for (const row of await tableBelow(DOC, '## Files for cagent', 1)) {
      const [type = ''] = codeWords(row[0]);
      if (['memory', 'mcp', 'user_prompt'].includes(type)) continue;
      const { plan } = await loadPipelineText(toolset(type), { cwd: ROOT });
      const [node] = plan?.nodes ?? [];
      const named = codeWords(row[1]).filter((word) => word !== 'tools');
      expect([type, node?.kind === 'agent' ? node.agent.tools : undefined]).toEqual([type, named]);
    }
  });

  test('all types of steps', async () => {
    const { problems } = await loadPipelineText(step('type: qqqqqqqq'), { cwd: ROOT });
    const hint = problems.find(({ code }) => code === 'unknown-value')?.hint ?? '';
    expect((await keysBelow(DOC, '### Steps', 0)).toSorted()).toEqual(
      hint.replace('write one of: ', '').split(', ').toSorted(),
    );
  });
});
