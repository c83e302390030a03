import { describe, expect, it } from 'vitest';
import { SkeinError } from 'skein';
import { tool } from 'skein/graph';
import type { Variable } from '../../src/notations/machine/pack.js';
import { artifactNames, reachablePrompts } from '../../src/notations/machine/pack-names.js';
import { completeVariables, variablesFromTexts } from '../../src/notations/machine/variables.js';
import { packTools } from '../../src/notations/machine/pack-tools.js';
import { packOf, spoken, systemOf } from './support/spoken.js';

const text = (name: string, more: Partial<Variable> = {}): Variable => ({
  name,
  type: 'string',
  required: true,
  ...more,
});

function refused(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (SkeinError.isInstance(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('templates', () => {
  it('[A9] fragments in three spellings, in each other, and a variable of that name wins over the bare one', async () => {
    const fragments = { intro: 'We are {{company}}.', rules: '{{fragment:intro}} Be brief.', tone: 'Never seen.' };
    const system_template = '{{fragments.intro}} | {{fragment:rules}} | {{intro}} | {{tone}}';
    const pack = packOf({ system_template, variables: [text('company'), text('tone')] }, { fragments });
    expect(await systemOf(pack, { variables: { company: 'Acme', tone: 'warm' } })).toBe(
      'We are Acme. | We are Acme. Be brief. | We are Acme. | warm',
    );
  });

  it('[7] [38] values are inserted once: what looks like a placeholder in them stays text', async () => {
    const system_template = '{{name}} / {{artifacts.plan}} / {{workflow_context}}';
    const pack = packOf({ system_template, variables: [text('name'), text('secret', { default: 'hush' })] });
    const system = await systemOf(pack, {
      variables: { name: '{{secret}}' },
      artifacts: { plan: '{{secret}} {{fragments.x}}' },
      context: '{{artifacts.plan}}',
    });
    expect(system).toBe('{{secret}} / {{secret}} {{fragments.x}} / {{artifacts.plan}}');
  });

  it('[37] dotted names and list items lead into values', async () => {
    const variables = [text('user', { type: 'object' }), text('items', { type: 'array' })];
    const pack = packOf({ system_template: '{{user.name}}: {{items[1].x}}, {{items}}', variables });
    const given = { user: { name: 'Ada' }, items: [{ x: 1 }, { x: 2 }] };
    expect(await systemOf(pack, { variables: given })).toBe('Ada: 2, [{"x":1},{"x":2}]');
  });

  it('an optional variable without a value is the empty text, a default counts per prompt', async () => {
    const prompt = (tone?: string): object => ({
      system_template: '[{{tone}}] [{{note}}]',
      variables: [text('tone', { required: false, ...(tone && { default: tone }) }), text('note', { required: false })],
    });
    const pack = packOf(prompt('warm'), { prompts: { other: { system_template: '', ...prompt('dry') } } });
    expect(await systemOf(pack)).toBe('[warm] []');
    expect(await systemOf(pack, { prompt: 'other' })).toBe('[dry] []');
    expect(await systemOf(pack, { prompt: 'other', variables: { tone: 'odd' } })).toBe('[odd] []');
  });
});

describe('variables', () => {
  const variables = [
    text('name', { description: 'who asks' }),
    text('age', { type: 'number', required: false, validation: { minimum: 18, maximum: 99 } }),
    text('code', { required: false, validation: { pattern: '^[A-Z]+$', min_length: 2, max_length: 3 } }),
    text('level', { required: false, validation: { enum: ['low', 'high'] } }),
  ];
  const pack = packOf({ system_template: 'Hi {{name}}, {{nobody}}', variables });

  it('[A9] all that is missing or wrong is said at once, as a typed error', () => {
    const given = { age: 'old', code: 'abcd', level: 'mid', nmae: 'Ada' };
    expect(refused(() => completeVariables(pack, { prompt: 'chat' }, given)).split('\n')).toEqual([
      'SKEIN_INPUT: the variable "name" is missing (who asks)',
      'the variable "age" must be number, not string',
      'the variable "code" must match the pattern "^[A-Z]+$"',
      'the variable "code" must have at most 3 characters',
      'the variable "level" must be one of ["low","high"]',
      'prompts["chat"]: {{nobody}} has no value',
      'no prompt has the variable "nmae"; did you mean "name"?',
    ]);
  });

  it('[A9] a placeholder that nothing declares takes a value that is given', () => {
    expect(completeVariables(pack, { prompt: 'chat' }, { name: 'Ada', nobody: 'x', age: 30 })).toEqual({
      name: 'Ada',
      nobody: 'x',
      age: 30,
      code: '',
      level: '',
    });
  });

  it('names of the host are names like any other', () => {
    const odd = packOf({ system_template: '{{__proto__}} {{constructor}}', variables: [text('__proto__')] });
    expect(refused(() => completeVariables(odd, { prompt: 'chat' }, {}))).toContain('"__proto__" is missing');
    expect(refused(() => completeVariables(odd, { prompt: 'chat' }, {}))).toContain('{{constructor}} has no value');
  });

  it('texts of a command line become what the pack declares', () => {
    const typed = packOf({
      variables: [
        text('n', { type: 'number' }),
        text('b', { type: 'boolean' }),
        text('o', { type: 'object' }),
        text('s'),
        text('a', { type: 'array' }),
      ],
    });
    const texts = { n: '5', b: 'yes', o: '{"x":1}', s: '5', a: 'no list', other: '1' };
    expect(variablesFromTexts(typed, texts)).toEqual({
      n: 5,
      b: true,
      o: { x: 1 },
      s: '5',
      a: 'no list',
      other: '1',
    });
  });

  it('[A9] the prompts of all states that can be reached count, and no others', () => {
    const prompts = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { system_template: name }]));
    const steps = [{ id: 'one', kind: 'prompt', prompt_task: 'd' }];
    const states = {
      first: { prompt_task: 'a', on_event: { Go: 'second' } },
      second: { prompt_task: 'b', max_visits: 1, on_max_visits: 'last', on_event: { Back: 'first' } },
      last: { orchestration: 'composition' as const, composition: 'work', artifacts: { plan: { type: 'text/plain' } } },
      loose: { prompt_task: 'e' },
    };
    const whole = packOf(
      { system_template: '{{artifacts.notes}}' },
      { prompts, compositions: { work: { steps } }, workflow: { version: 2, entry: 'first', states } },
    );
    expect(reachablePrompts(whole, { state: 'first' })).toEqual(['a', 'b', 'd']);
    expect(reachablePrompts(whole, { state: 'loose' })).toEqual(['e']);
    expect(reachablePrompts(whole, { prompt: 'chat' })).toEqual(['chat']);
    expect(artifactNames(whole)).toEqual(['plan', 'notes']);
  });
});

describe('parameters and models', () => {
  it('[A10] parameters reach the provider', async () => {
    const parameters = {
      temperature: 0.2,
      max_tokens: 50,
      top_p: 0.9,
      top_k: 4,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
    };
    const [request] = await spoken(packOf({ parameters, tool_policy: { tool_choice: 'none' } }));
    expect(request?.settings).toEqual({
      temperature: 0.2,
      maxOutputTokens: 50,
      topP: 0.9,
      topK: 4,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
      toolChoice: 'none',
    });
  });

  it.each([
    ['own/big', 'Think. Be kind to Ada. Slowly.', 0.1, 90],
    ['own/small', 'Short, Ada!', 0.7, 50],
    ['own/other', 'Be kind to Ada.', 0.7, 50],
  ])(
    '[A10] what is different for the model %s, by its name with or without provider',
    async (model, system, t, max) => {
      const pack = packOf({
        system_template: 'Be kind to {{name}}.',
        variables: [text('name')],
        parameters: { temperature: 0.7, max_tokens: 50 },
        model_overrides: {
          big: {
            system_template_prefix: 'Think. ',
            system_template_suffix: ' Slowly.',
            parameters: { temperature: 0.1, max_tokens: 90 },
          },
          'own/small': { system_template: 'Short, {{name}}!' },
        },
      });
      const [request] = await spoken(pack, { model, variables: { name: 'Ada' } });
      expect(request?.messages[0]).toEqual({ role: 'system', text: system });
      expect(request?.settings).toEqual({ temperature: t, maxOutputTokens: max });
    },
  );
});

describe('tools', () => {
  const parameters = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
  const tools = {
    find: { name: 'find', description: 'finds an order', parameters },
    drop: { name: 'drop', description: 'deletes all' },
  };
  const call = (name: string, id = 'c1') => ({ type: 'tool-call' as const, call: { id, name, input: '{"id":"7"}' } });

  it('[issue 6] the pack says what the model is told of a tool, a function carries it out', async () => {
    const pack = packOf({ tools: ['find'] }, { tools });
    const find = ({ id }: { id: string }): object => ({ id, found: true });
    const [first, second] = await spoken(pack, { tools: { find }, answers: [[call('find')]] });
    expect(first?.tools).toEqual([{ name: 'find', description: 'finds an order', inputSchema: parameters }]);
    const results = second?.messages.at(-1);
    expect(results).toMatchObject({ role: 'tool', results: [{ output: '{"id":"7","found":true}' }] });
  });

  it('[A10] the policy of a prompt removes tools, and bounds rounds and calls of one turn', async () => {
    const policy = { blocklist: ['drop'], max_rounds: 1, max_tool_calls_per_turn: 2 };
    const pack = packOf({ tools: ['find', 'drop'], tool_policy: policy }, { tools });
    const find = tool({ name: 'find', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'found' });
    const given = { tools: { find, drop: () => 'gone' } };
    const [request] = await spoken(pack, given);
    expect(request?.tools.map(({ name }) => name)).toEqual(['find']);
    await expect(spoken(pack, { ...given, answers: [[call('find')], [call('find')]] })).rejects.toThrow(
      '2 model turns',
    );
    const three = [call('find'), call('find', 'c2'), call('find', 'c3')];
    await expect(spoken(pack, { ...given, answers: [three] })).rejects.toThrow('2 tool calls');
  });

  it('[issue 6] tools of the list that nobody implements are known before the first call', () => {
    const chat = { system_template: '', tools: ['find', 'drop', 'away'] };
    expect(packTools({ id: 'p', prompts: {}, tools }, chat, { tools: { find: () => '' } }).missing).toEqual([
      'drop',
      'away',
    ]);
    const blocked = { ...chat, tool_policy: { blocklist: ['drop', 'away'] } };
    expect(packTools({ id: 'p', prompts: {}, tools }, blocked, { tools: { find: () => '' } }).missing).toEqual([]);
    expect(packTools({ id: 'p', prompts: {}, tools }, chat, { standIn: true }).missing).toEqual([]);
  });
});
