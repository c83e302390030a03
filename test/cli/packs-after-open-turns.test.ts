import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';
import type { Ended } from './support/skein.js';

const go = (event: string): string => `{ name: workflow__transition, input: { event: ${event}, context: "" } }`;
const FILES = {
  'shop.pack.json': packText(
    {
      order: {
        system_template: 'Order for {{company}}.',
        tools: ['buy'],
        variables: [{ name: 'company', type: 'string', required: true }],
      },
      wait: 'Wait.',
      thank: 'Thank.',
    },
    {
      order: { prompt_task: 'order', on_event: { Bought: 'wait' } },
      wait: { prompt_task: 'wait', orchestration: 'external', on_event: { Delivered: 'thank' } },
      thank: { prompt_task: 'thank', terminal: true },
    },
    { tools: { buy: { name: 'buy', description: 'buys', parameters: { type: 'object', properties: {} } } } },
  ),
  'tools.mjs': 'export const approve = { buy: true };\nexport const buy = () => "bought";\n',
  'script.yaml': `
rules:
  - { agent: order, answer: { text: "", tools: [{ name: buy, input: {} }, ${go('Bought')}] } }
  - { agent: wait, answer: It is under way., optional: true }
  - { agent: thank, answer: Thank you., optional: true }
`,
};
const RUN = ['run', 'shop.pack.json', '--mock=script.yaml', '--tools', 'tools.mjs', '--trust', '--thread', 'ada'];

/** A conversation whose first turn has asked a person, and has the answer now. */
async function answered(): Promise<(...args: string[]) => Promise<Ended>> {
  const cwd = await makeProject(FILES);
  const skein = (...args: string[]): Promise<Ended> => served(args, { cwd });
  const { code } = await skein(...RUN, '--input', 'company=Acme', '--message', 'One loom.');
  expect([code, (await skein('answer', '-1', 'allow')).code]).toEqual([5, 0]);
  return skein;
}

describe('a turn after one that has not ended', () => {
  it('may be an event of the state to which that one leads', async () => {
    const skein = await answered();
    const { code, stdout, stderr } = await skein('event', 'ada', 'Delivered', '--trust');
    expect([code, stdout.trim()], stderr).toEqual([0, 'Thank you.']);
    expect(stderr).toContain('was resumed first');
  });

  it('is refused for an event that this state does not have, as at any other time', async () => {
    const skein = await answered();
    const { code, stderr } = await skein('event', 'ada', 'Bought', '--trust');
    expect(code).toBe(2);
    expect(stderr).toContain('SKEIN_INVALID_EVENT');
    expect(stderr).toContain('event "Bought" not defined for state "wait" (available: [Delivered])');
    expect((await skein('event', 'ada', 'Delivered', '--trust')).code).toBe(0);
  });

  it('has the variables that were given with that one', async () => {
    const skein = await answered();
    const { code, stdout, stderr } = await skein(...RUN, '--message', 'When does it come?');
    expect([code, stdout.trim()], stderr).toEqual([5, 'It is under way.']);
  });
});
