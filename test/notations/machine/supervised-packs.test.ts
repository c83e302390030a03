import { describe, expect, it } from 'vitest';
import { loadWorkflow } from 'skein/yaml';
import { validatePack } from 'skein/machine';
import { makeProject, supervised } from '../project.js';

type Data = Record<string, unknown>;

/** A pack with two states that talk and one that is a composition. */
function pack(skein: Data, ofComposition?: Data): string {
  const prompt = { id: 'chat', name: 'Chat', version: '1.0.0', system_template: 'Be kind.' };
  const data = {
    id: 'support',
    name: 'Support',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { chat: prompt },
    workflow: {
      version: 2,
      entry: 'talk',
      engine: { skein, other: { a: 1 } },
      states: {
        talk: { prompt_task: 'chat', on_event: { Work: 'work', End: 'end' } },
        work: { orchestration: 'composition', composition: 'flow', on_event: { Done: 'end' } },
        end: { prompt_task: 'chat', terminal: true },
      },
    },
    compositions: {
      flow: {
        version: 1,
        ...(ofComposition === undefined ? {} : { engine: { skein: ofComposition } }),
        steps: [{ id: 'say', kind: 'prompt', prompt_task: 'chat', input: 'Say it.' }],
      },
    },
  };
  return JSON.stringify(data, null, 2);
}

async function loaded(skein: Data, ofComposition?: Data): Promise<Record<string, unknown>> {
  const cwd = await makeProject({ 'support.pack.json': pack(skein, ofComposition) });
  const { plan, problems } = await loadWorkflow('support.pack.json', { cwd, pack: {} });
  expect(problems).toEqual([]);
  return Object.fromEntries(Object.entries(supervised(plan)).map(([path, own]) => [path.replace(/^state\./, ''), own]));
}

const problemsOf = (skein: Data, ofComposition?: Data): readonly string[] =>
  validatePack(pack(skein, ofComposition), { file: 'support.pack.json' }).map(
    ({ at, code, message }) => `${at?.file}:${at?.line}:${at?.column} ${code}: ${message}`,
  );

describe('supervise in a pack without a workflow: metadata.skein', () => {
  it('[addition 3] is for the agents of its prompts', async () => {
    const { workflow: _, compositions: _none, ...bare } = JSON.parse(pack({})) as Data;
    const of = async (metadata: Data): Promise<unknown> => {
      const cwd = await makeProject({ 'p.pack.json': JSON.stringify({ ...bare, metadata }) });
      const { plan, problems } = await loadWorkflow('p.pack.json', { cwd, pack: {} });
      return [problems.map(({ code }) => code), Object.values(supervised(plan))];
    };
    expect(await of({ skein: { supervise: { human: true } } })).toEqual([[], [{ by: 'human' }]]);
    expect(await of({ domain: 'any' })).toEqual([[], []]);
    expect(await of({ skein: { supervise: 5 } })).toEqual([['wrong-form'], []]);
  });
});

describe('supervise in a pack: engine.skein', () => {
  it('[addition 3] is for the agents of all states, also inside of compositions', async () => {
    expect(await loaded({ supervise: { max_reorients: 2 } })).toEqual({
      talk: { by: 'model', maxReorients: 2 },
      'work/say': { by: 'model', maxReorients: 2 },
      end: { by: 'model', maxReorients: 2 },
    });
  });

  it('[addition 3] [decision 7] a state, or a composition, says otherwise, key by key', async () => {
    const states = { talk: { supervise: { human: true, instruction: 'Be helpful.' } }, end: { supervise: false } };
    expect(await loaded({ supervise: { model: 'mock/echo' }, states }, { supervise: { max_reorients: 0 } })).toEqual({
      talk: { by: 'human', model: 'mock/echo', instruction: ['Be helpful.'] },
      'work/say': { by: 'model', model: 'mock/echo', maxReorients: 0 },
      end: 'nobody',
    });
    expect(await loaded({ supervise: true }, { supervise: false })).toMatchObject({ 'work/say': 'nobody' });
  });

  it('[addition 3] a composition as a whole, where its state says so', async () => {
    const states = { work: { supervise: { human: true, instruction: 'Do all of it.' } } };
    expect(await loaded({ states })).toEqual({ work: { by: 'human', instruction: ['Do all of it.'] } });
  });

  it.each<[Data, Data | undefined, RegExp]>([
    [
      { supervise: 'human' },
      undefined,
      /wrong-form: workflow\.engine\.skein\.supervise must be true or false or an object/,
    ],
    [
      { supervise: { humans: true } },
      undefined,
      /unknown-key: workflow\.engine\.skein\.supervise: unknown key "humans"/,
    ],
    [{ supervise: { max_reorients: -1 } }, undefined, /wrong-form: .*max_reorients must be from 0 to 1000/],
    [{ supervized: true }, undefined, /unknown-key: workflow\.engine\.skein: unknown key "supervized"/],
    [{ states: { tlak: { supervise: true } } }, undefined, /unknown-state: .*"tlak" does not exist in states/],
    [
      { supervise: { human: true }, states: { end: { supervise: false } } },
      undefined,
      /human-gate: the state "end" opts out/,
    ],
    [{ supervise: { human: true } }, { supervise: true }, /human-gate: the composition "flow" lets a model take over/],
    [{ states: { work: { supervise: true } } }, undefined, /missing-instruction: supervise of the state "work" needs/],
  ])('[addition 3] [decision 7] %j, %j is a problem with file, line and column', (skein, ofComposition, expected) => {
    const problems = problemsOf(skein, ofComposition);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^support\.pack\.json:\d+:\d+ /);
    expect(problems[0]).toMatch(expected);
  });
});
