import { describe, expect, it } from 'vitest';
import type { Problem } from 'skein';
import type { PackOptions } from 'skein/machine';
import { parseSpec, validatePack } from 'skein/machine';
import { SkeinError } from 'skein';

type Data = Record<string, unknown>;

/** A pack of one prompt, with what is given in addition; undefined takes a key away. */
function pack(more: Data = {}, prompt: Data = {}): Data {
  return {
    id: 'support',
    name: 'Support',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { chat: { id: 'chat', name: 'Chat', version: '1.0.0', system_template: 'Be kind.', ...prompt } },
    ...more,
  };
}

function workflow(states: Data, more: Data = {}): Data {
  return { workflow: { version: 1, entry: 'a', states, ...more } };
}

const STATE = { prompt_task: 'chat' };

function found(data: Data, options: PackOptions = {}): readonly string[] {
  return validatePack(JSON.parse(JSON.stringify(data)) as object, options).map(textOf);
}

function textOf({ severity, code, message }: Problem): string {
  return `${severity} ${code}: ${message}`;
}

const ODD: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  1e300,
  true,
  '',
  'a',
  [],
  ['a'],
  {},
  { a: 'a' },
  { a: null },
  { mode: 'x' },
];

/** Copies of data with one value each that is another. */
function* changed(value: unknown): Generator {
  yield* ODD;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inside] of Object.entries(value)) {
    for (const other of changed(inside)) yield { ...value, [key]: other };
  }
  for (const other of ODD) yield { ...value, misspelt: other };
}

describe('the form of a pack', () => {
  it('asks for all that reading its workflow asks for', () => {
    const whole = {
      version: 2,
      entry: 'a',
      states: {
        a: {
          prompt_task: 'chat',
          description: 'first',
          on_event: { Go: 'b' },
          persistence: 'transient',
          orchestration: 'hybrid',
          skills: 'none',
          terminal: false,
          max_visits: 3,
          on_max_visits: 'b',
          artifacts: { plan: { type: 'text/plain', description: 'what is next', mode: 'append' } },
        },
        b: STATE,
      },
      engine: { budget: { max_total_visits: 9, max_tool_calls: 9, max_wall_time_sec: 9 }, other: { a: [1] } },
    };
    const all = [...changed(whole)];
    const right = all.filter((data) =>
      validatePack(pack({ workflow: data })).every(({ severity }) => severity !== 'error'),
    );
    for (const data of right) expect(() => parseSpec(data)).not.toThrow();
    expect(all.length).toBeGreaterThan(400);
    expect(right.length).toBeGreaterThan(50);
  });

  it('[decision 9] takes a pack without workflow', () => {
    expect(found(pack())).toEqual([]);
  });

  it('names the place of each problem, in the order of the text', () => {
    const text = `{
  "id": "Support",
  "name": "Support",
  "version": "1",
  "template_engine": { "version": "v1", "syntax": "{{variable}}" },
  "promts": {},
  "prompts": {
    "chat": { "id": "chat", "name": "Chat", "version": "1.0.0", "system_template": 5, "tools": "none" }
  }
}`;
    const problems = validatePack(text, { file: 'support.pack.json' });
    expect(
      problems.map(
        ({ at, hint, ...rest }) =>
          `${at?.file}:${at?.line}:${at?.column} ${textOf(rest)}${hint === undefined ? '' : ` (${hint})`}`,
      ),
    ).toEqual([
      'support.pack.json:2:9 error wrong-form: id must be a text of the form ^[a-z][a-z0-9-]*$, not the text "Support"',
      expect.stringMatching(
        /^support\.pack\.json:4:14 error wrong-form: version must be a text of the form .*, not the text "1"$/,
      ),
      'support.pack.json:6:3 error unknown-key: unknown key "promts" (did you mean "prompts"?)',
      'support.pack.json:8:84 error wrong-form: prompts["chat"].system_template must be a text, not 5',
      'support.pack.json:8:96 error wrong-form: prompts["chat"].tools must be a list, not the text "none"',
    ]);
  });

  it('reads YAML too, and tells data without places', () => {
    const yaml =
      'id: support\nname: Support\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: x }\nprompts: {}\n';
    const [problem] = validatePack(yaml, { file: 'pack.yaml' });
    expect(problem).toMatchObject({ code: 'wrong-form', at: { file: 'pack.yaml', line: 5 } });
    expect(validatePack(yaml)).toEqual([problem]);
    expect(validatePack({ ...pack(), prompts: {} })[0]).not.toHaveProperty('at');
    const loop: Data = {};
    loop['self'] = loop;
    expect(() => validatePack(loop)).toThrow(SkeinError);
  });

  it.each<[string, Data, string | undefined, string | undefined]>([
    ['a state without on_event', workflow({ a: STATE }), undefined, 'missing-key'],
    ['on_event that is empty', workflow({ a: { ...STATE, on_event: {} } }), undefined, undefined],
    [
      'a composition state without prompt',
      {
        ...workflow({ a: { orchestration: 'composition', composition: 'c', on_event: {} } }),
        compositions: { c: { version: 1, steps: [{ id: 's', kind: 'prompt', prompt_task: 'chat' }] } },
      },
      'unknown-key missing-key unknown-key',
      undefined,
    ],
    [
      'an unknown key in the budget',
      workflow({ a: { ...STATE, on_event: {} } }, { engine: { budget: { more: 1 } } }),
      'unknown-key',
      undefined,
    ],
    [
      'an agent with a state',
      { ...workflow({ a: { ...STATE, on_event: {} } }), agents: { entry: 'chat', members: { chat: { state: 'a' } } } },
      'unknown-key',
      undefined,
    ],
    ['max_visits of 0', workflow({ a: { ...STATE, on_event: {}, max_visits: 0 } }), 'wrong-form', 'wrong-form'],
    ['no states', workflow({}), 'wrong-form', 'wrong-form'],
  ])('[decision 9] [A11] by schema 1.4, by 1.5: %s', (_, more, in14, in15) => {
    const errors = (schema: '1.4' | '1.5'): string | undefined => {
      const codes = validatePack(pack(more), { schema })
        .filter(({ severity }) => severity === 'error')
        .map(({ code }) => code);
      return codes.length === 0
        ? undefined
        : codes.filter((code) => code !== 'no-states' && code !== 'unknown-prompt').join(' ');
    };
    expect([errors('1.4')?.split(' ').toSorted(), errors('1.5')]).toEqual([in14?.split(' ').toSorted(), in15]);
  });

  it('[A11] keys of 1.4 alone are refused by 1.5, and both are taken without a version', () => {
    const prompt = {
      variables: [{ name: 'x', type: 'string', required: false, binding: { kind: 'env' } }],
      validators: [{ type: 'json_valid', message: 'no' }],
      system_template: 'About {{x}}.',
    };
    expect(found(pack({}, prompt))).toEqual([]);
    expect(found(pack({}, prompt), { schema: '1.4' })).toEqual([]);
    expect(found(pack({}, prompt), { schema: '1.5' })).toEqual([
      'error unknown-key: prompts["chat"].variables[0]: unknown key "binding"',
      'error missing-key: prompts["chat"].validators[0].enabled is missing',
      'error unknown-key: prompts["chat"].validators[0]: unknown key "message"',
    ]);
  });

  it('[17] a budget of wrong type is an error in each version', () => {
    const data = pack(workflow({ a: { ...STATE, on_event: {} } }, { engine: { budget: { max_tool_calls: '3' } } }));
    for (const schema of ['1.4', '1.5', undefined] as const) {
      expect(found(data, schema === undefined ? {} : { schema })).toEqual([
        'error wrong-form: workflow.engine.budget.max_tool_calls must be a whole number, not the text "3"',
      ]);
    }
  });

  it('[A10] a $schema that names another version than the keys show is a warning', () => {
    const data = pack({ $schema: 'https://promptpack.org/schema/v1.4/promptpack.schema.json', compositions: {} });
    expect(found(data)).toEqual([
      'warning schema-mismatch: $schema names version 1.4, by which the pack is not right: unknown key "compositions"',
    ]);
    expect(found({ ...data, $schema: 'https://promptpack.org/schema/latest/promptpack.schema.json' })).toEqual([]);
  });

  it.each(['Arena', 'PromptConfig'])('[A15] a file of kind %s is not a pack', (kind) => {
    const [problem, ...rest] = validatePack({ apiVersion: 'promptkit.altairalabs.ai/v1alpha1', kind, spec: {} });
    expect([problem?.code, problem?.message, rest]).toEqual(['not-a-pack', `a file of kind ${kind} is not a pack`, []]);
    expect(problem?.hint).toMatch(/packc compile/);
  });

  it('a key that is there twice, and a text that is not JSON, are problems', () => {
    expect(validatePack('{ "id": "a", "id": "b" }').map(({ code }) => code)).toContain('duplicate-key');
    expect(validatePack('{ id }').map(({ code }) => code)).toEqual(['json-syntax']);
    expect(validatePack('', { file: 'a.yaml' }).map(({ code }) => code)).toEqual(['empty-file']);
  });
});

describe('the workflow of a pack', () => {
  it('[R4] [R6] is checked by its rules, with the places of the text', () => {
    const data = pack(workflow({ a: { prompt_task: 'chatt', on_event: { Go: 'b' } } }));
    const text = JSON.stringify(data, undefined, 1);
    const lines = text.split('\n');
    const problems = validatePack(text).filter(({ severity }) => severity === 'error');
    expect(problems.map(({ at, message }) => [lines[(at?.line ?? 0) - 1]?.trim(), message])).toEqual([
      ['"prompt_task": "chatt",', 'workflow.states["a"].prompt_task "chatt" does not reference a valid prompt'],
      ['"Go": "b"', 'workflow.states["a"].on_event["Go"] target "b" does not exist in states'],
    ]);
  });

  it('[7] may have states with any names', () => {
    const text = JSON.stringify(
      pack(workflow({ 'a/b': { ...STATE, terminal: true }, END: { ...STATE, terminal: true } })),
    ).replace('"END"', '"__proto__"');
    expect(validatePack(text.replace('"entry":"a"', '"entry":"__proto__"')).map(textOf)).toEqual([
      'warning unreachable-state: workflow.states["a/b"] cannot be reached from entry "__proto__"',
    ]);
  });

  it('[V4] a state should declare the artifacts that its prompt shows', () => {
    const artifacts = { note: { type: 'text/plain' } };
    const prompt = { system_template: 'About {{artifacts.note}} and {{artifacts.notes}}.' };
    expect(found(pack(workflow({ a: { ...STATE, terminal: true, artifacts } }), prompt))).toEqual([
      'warning undeclared-artifact: workflow.states["a"]: its prompt shows {{artifacts.notes}}, which the state does not declare',
    ]);
  });

  it('[decision 8] its compositions must exist', () => {
    const states = { a: { orchestration: 'composition', composition: 'analyse', terminal: true } };
    const step = { id: 's', kind: 'prompt', prompt_task: 'chat' };
    expect(found(pack({ ...workflow(states), compositions: { analyze: { version: 1, steps: [step] } } }))).toEqual([
      'error unknown-composition: workflow.states["a"].composition "analyse" does not exist in compositions',
    ]);
  });
});
