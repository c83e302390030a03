import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { documentOf, makeProject } from './support/skein.js';

const FLOW = `import { appendFileSync } from 'node:fs';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { ToolStep } from 'skein/graph';

const pay = tool({
  name: 'pay',
  inputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
  async execute({ sum }, io: ToolStep<{ customer: string }>) {
    const may = await io.ask({ text: 'Pay ' + sum + ' for ' + io.state.customer + '?', choices: ['yes', 'no'] });
    if (may === 'yes') appendFileSync('paid.txt', String(sum));
    return 'paid: ' + may;
  },
});

export default graph<{ customer: string; task: string }>({ name: 'shop' })
  .node('buy', agentNode(agent({ name: 'buyer', tools: [pay] })))
  .setEntry('buy')
  .setExit('buy');
`;

const SCRIPT = `rules:
  - agent: buyer
    answers:
      - tools: [{ name: pay, input: { sum: 3 } }]
      - text: It is done.
`;

it(
  '[XG10] a tool that asks pauses a run of a module; another process answers, a third one finishes it, and no model call is paid for twice',
  { timeout: 240_000 },
  async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, 'script.yaml': SCRIPT });
    const words = [
      'run',
      'flow.ts',
      '--mock=script.yaml',
      '--no-audit',
      '--json',
      '-i',
      'customer=Ada',
      '-i',
      'task=x',
    ];
    const paused = await served(words, { cwd });
    expect(paused.code).toBe(5);
    expect(documentOf(paused)).toMatchObject({
      modelCalls: 1,
      questions: [{ key: 'buy@tool#1.1.ask:1', path: 'buy', question: 'Pay 3 for Ada?', choices: ['yes', 'no'] }],
    });
    expect((await served(['answer', '-1', 'perhaps'], { cwd })).code).toBe(2);
    expect((await served(['answer', '-1', 'yes'], { cwd })).code).toBe(0);
    const done = await served(['resume', '-1', '--no-audit', '--json'], { cwd });
    expect(done.code).toBe(0);
    expect(documentOf(done)).toMatchObject({ outcome: 'succeeded', modelCalls: 1, state: { buy: 'It is done.' } });
    expect(await readFile(join(cwd, 'paid.txt'), 'utf8')).toBe('3');
  },
);
