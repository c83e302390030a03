import { expect, test } from 'vitest';
import { validatePack, validateSpec } from '../../src/machine.js';

const prompt = (id: string, more: object = {}) => ({
  id,
  name: id,
  version: '1.0.0',
  system_template: 'Talk.',
  ...more,
});

function packOf(workflow: object | undefined, more: object = {}): object {
  return {
    id: 'desk',
    name: 'Desk',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { talk: prompt('talk'), bye: prompt('bye') },
    ...(workflow === undefined ? {} : { workflow }),
    ...more,
  };
}

const END = { prompt_task: 'bye', terminal: true };
const STATES: Readonly<Record<string, readonly [states: object, more?: object]>> = {
  'states that name what does not exist': [
    {
      talk: { prompt_task: 'xyzzy', on_event: { Go: 'nowhere', Stop: 'ende' }, max_visits: 2, on_max_visits: 'qqq' },
      mix: { orchestration: 'composition', composition: 'none', on_event: { End: 'end' } },
      end: END,
    },
    { entry: 'start' },
  ],
  'states that lead nowhere, or twice': [
    {
      talk: { prompt_task: 'talk', on_event: { go: 'loop' }, max_visits: 1, on_max_visits: 'loop' },
      loop: { prompt_task: 'talk', on_event: { Back: 'talk' }, max_visits: 3 },
      alone: { prompt_task: 'talk', orchestration: 'elsewhere', composition: 'x' },
      both: { ...END, on_event: { On: 'talk' }, on_max_visits: 'loop' },
      mix: { orchestration: 'composition', on_event: { End: 'talk' } },
    },
    { engine: { budget: { max_total_visits: 2, max_cost: 3 } } },
  ],
  'artifacts that differ': [
    {
      talk: {
        prompt_task: 'talk',
        on_event: { Go: 'end' },
        artifacts: { note: { type: 'text/plain', mode: 'append' } },
      },
      end: { ...END, artifacts: { note: { type: 'text/html' } } },
    },
  ],
  'no states': [{}],
};

const PACKS: Readonly<Record<string, object>> = {
  'a version that does not exist': packOf({ version: 7, entry: 'end', states: { end: END } }),
  'members that do not exist': packOf(
    { version: 2, entry: 'end', states: { end: END } },
    { agents: { entry: 'boss', members: { talk: { state: 'zzz' }, ghost: {} } } },
  ),
  'an entry that is no member': packOf(undefined, { agents: { entry: 'bye', members: { talk: {} } } }),
  'steps and prompts of a composition': packOf(undefined, {
    compositions: {
      one: { version: 1, steps: [{ id: 'a', kind: 'prompt', prompt_task: 'xyzzy', depends_on: ['zzz'] }] },
    },
  }),
  'keys that do not exist': packOf({ version: 2, entry: 'end', states: { end: { ...END, colour: 'red' } } }),
  ...Object.fromEntries(
    Object.entries(STATES).map(([name, [states, more = {}]]) => [
      name,
      packOf({ version: 2, entry: 'talk', states, ...more }),
    ]),
  ),
};

for (const [name, pack] of Object.entries(PACKS)) {
  test(`each problem of a pack has a hint: ${name}`, () => {
    const problems = validatePack(JSON.stringify(pack), { file: 'desk.pack.json' });
    expect(problems.length).toBeGreaterThan(0);
    // The message about a wrong form says which one is right.
    expect(problems.filter(({ hint, code }) => hint === undefined && code !== 'wrong-form')).toEqual([]);
  });
}

test('a hint about a name that resembles none lists those that there are', () => {
  const workflow = {
    version: 2,
    entry: 'start',
    states: { end: END, talk: { prompt_task: 'bye', on_event: { Go: 'end' } } },
  };
  const { problems } = validateSpec(workflow, ['bye']);
  expect(problems.find(({ code }) => code === 'unknown-entry')?.hint).toBe('states are: end, talk');
  const misspelt = validateSpec({ ...workflow, entry: 'tlak' }, ['bye']).problems;
  expect(misspelt.find(({ code }) => code === 'unknown-entry')?.hint).toBe('did you mean "talk"?');
});
