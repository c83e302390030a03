import { describe, expect, it } from 'vitest';
import { memoryStore, run } from 'skein';
import { loadWorkflowText } from '../../src/yaml.js';
import { ran, step, wrong } from './loops.js';

const INPUTS =
  '{ topic: {}, depth: { default: moderate, enum: [quick, moderate] }, n: { type: number, default: 2 }, all: { type: boolean, default: false }, files: { type: list, default: [a] }, about: { type: object, default: { who: me } } }';

/** A file with these inputs, whose step `a` reads what `reads` names by the way in which the notation writes inputs. */
const BOTH = {
  dag: (inputs: string, reads: string, more = '') =>
    `name: d\ninputs: ${inputs}\nagents: { w: { inline: { prompt: You write., tools: [] } } }\nsteps:\n  - ${step('a', reads.replaceAll('@', 'inputs.'))}\n${more}`,
  pipeline: (inputs: string, reads: string, more = '') =>
    `inputs: ${inputs}\nagents: { w: { instruction: You write. } }\nworkflow:\n  - { id: a, type: agent, name: w, prompt: "${reads.replaceAll('@', '$inputs.')}" }\n${more}`,
} as const;
const NOTATIONS = Object.entries(BOTH);
const ALL = '{{ @topic }} {{ @depth }} {{ @n }} {{ @all }} {{ @files }} {{ @about.who }}';

describe.each(NOTATIONS)('[G3] [addition 3] inputs of a %s', (_, file) => {
  it('have types, defaults and words to choose from', async () => {
    const plain = await ran(file(INPUTS, ALL), {}, { inputs: { topic: 'looms' } });
    expect(plain.asked).toEqual(['a: looms moderate 2 false ["a"] me']);
    const typed = { topic: 'looms', depth: 'quick', n: 3.5, all: true, files: ['x', 1], about: { who: 'you' } };
    const given = await ran(file(INPUTS, ALL), {}, { inputs: typed });
    expect(given.asked).toEqual(['a: looms quick 3.5 true ["x",1] you']);
  });

  it('take texts, which are turned into the type, as the command line gives them', async () => {
    const texts = { topic: 'looms', n: ' 3.50 ', all: 'yes', files: '["x", 1]', about: '{"who": "you"}' };
    const { asked, state } = await ran(file(INPUTS, ALL), {}, { inputs: texts });
    expect(asked).toEqual(['a: looms moderate 3.5 true ["x",1] you']);
    expect([state['inputs.n'], state['inputs.all'], state['inputs.files']]).toEqual([3.5, true, ['x', 1]]);
  });

  it.each([
    [{ topic: 'x', n: 'abc' }, '\'n\' must be a number, not "abc"'],
    [{ topic: 'x', n: '' }, '\'n\' must be a number, not ""'],
    [{ topic: 'x', n: 'Infinity' }, "'n' must be a number"],
    [{ topic: 'x', n: true }, "'n' must be a number, not true"],
    [{ topic: 'x', all: 'maybe' }, '\'all\' must be true or false, not "maybe"'],
    [{ topic: 'x', files: 'a,b' }, '\'files\' must be a list, not "a,b"'],
    [{ topic: 'x', files: '{"a":1}' }, "'files' must be a list"],
    [{ topic: 'x', about: '[1]' }, "'about' must be an object"],
    [{ topic: 'x', depth: 'slow' }, '\'depth\' must be one of quick, moderate, not "slow"'],
    [{ topic: 'x', n: 'abc', depth: 'slow' }, 'not "slow"; \'n\' must be a number, not "abc"'],
    [{ n: 1 }, "'topic' is missing"],
  ])('[bad-input] %j is refused before anything runs', async (inputs, words) => {
    const workflow = await loadWorkflowText(file(INPUTS, ALL), { cwd: '/' });
    expect(() => run(workflow, { inputs, models: { mock: true } })).toThrow(
      expect.objectContaining({ code: 'SKEIN_INPUT', message: expect.stringContaining(words) as string }),
    );
  });

  it.each([
    ['{ n: { type: number, default: abc } }', 'bad-input: default of input "n" must be a number, not "abc"'],
    ['{ n: { default: [1] } }', 'bad-input: default of input "n" must be a text, not a list'],
    ['{ n: { default: c, enum: [a, b] } }', 'bad-input: default of input "n" must be one of a, b, not "c"'],
    ['{ n: { type: number, enum: [1, b] } }', 'bad-input: enum of input "n" has values that are not of its type'],
    ['{ n: { enum: [] } }', 'wrong-type: enum of input "n" must be a list of values, not empty'],
    ['{ n: { enum: word } }', 'wrong-type: enum of input "n" must be a list of values, not text'],
    ['{ n: { type: integer } }', 'unknown-value: type of input "n" must be text, number, boolean, list, object'],
    ['{ n: { typ: number } }', 'unknown-key: unknown key "typ" in input "n"'],
    ['{ "a b": {} }', 'bad-name: "a b" is not a valid input name'],
  ])('[bad-input] %s is wrong as it stands', async (inputs, words) => {
    expect((await wrong(file(inputs, '{{ @n }}'))).join('\n')).toContain(words);
  });

  it('[unknown-input] that nobody declared are no references', async () => {
    expect((await wrong(file('{ topic: {} }', '{{ @topc }}'))).join('\n')).toMatch(/unknown-input: step "a" .*"topc"/);
  });

  it('are needed as soon as something reads them, unless it ends with a ?', async () => {
    const optional = await ran(file('{ topic: {} }', 'So: {{ @topic? }}.'), {}, {});
    expect(optional.asked).toEqual(['a: So: .']);
    const unused = await ran(file('{ topic: {} }', 'So.'), {}, {});
    expect(unused.asked).toEqual(['a: So.']);
  });

  it('are of their types after a resume and in a fork, which may set another one', async () => {
    const store = memoryStore();
    const text = file('{ n: { type: number } }', '{{ @n }}');
    const first = await ran(text, {}, { store, inputs: { n: '3' } });
    const again = await ran(text, {}, { store, resume: first.runId });
    expect([again.reused, again.state['inputs.n']]).toEqual([1, 3]);
    const same = await ran(text, {}, { store, fork: { run: first.runId } });
    expect([same.reused, same.ran]).toEqual([1, 0]);
    const forked = await ran(text, {}, { store, fork: { run: first.runId, set: { n: '4' } } });
    expect([forked.asked, forked.state['inputs.n']]).toEqual([['a: 4'], 4]);
    await expect(ran(text, {}, { store, fork: { run: first.runId, set: { n: 'x' } } })).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
    });
  });

  it('of a turn of a conversation are of their types, too', async () => {
    const store = memoryStore();
    const text = file('{ n: { type: number } }', '{{ @n }}');
    const first = await ran(text, {}, { store, thread: 't', inputs: { n: '3' } });
    const second = await ran(text, {}, { store, thread: 't', inputs: { n: '4' } });
    expect([first.state['inputs.n'], second.state['inputs.n'], second.asked]).toEqual([3, 4, ['a: 4']]);
    await expect(ran(text, {}, { store, thread: 't', inputs: { n: 'x' } })).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
    });
  });
});

describe('[addition 3] inputs of a pipeline', () => {
  const steps = (...list: readonly string[]): string =>
    `inputs: { topic: {}, files: { type: list } }\nagents: { w: { instruction: "About {{ $inputs.topic }}." } }\nworkflow:\n${list.map((one) => `  - ${one}\n`).join('')}`;

  it('are seen in instructions, conditions, blocks, loops and maps', async () => {
    const file = steps(
      '{ type: condition, condition: "{{ $inputs.topic == \'looms\' }}", true: [{ id: yes, type: agent, name: w, prompt: y }] }',
      '{ id: par, type: parallel, steps: [{ id: p, type: agent, name: w, prompt: "p {{ $inputs.topic }}" }] }',
      '{ id: each, type: map, over: "{{ $inputs.files }}", steps: [{ id: m, type: agent, name: w, prompt: "{{ $item }} {{ $inputs.topic }}" }] }',
      '{ id: again, type: loop, until: { line: DONE }, max_rounds: 2, steps: [{ id: l, type: agent, name: w, prompt: "l {{ $inputs.topic }}" }] }',
    );
    const ended = await ran(file, { l: ['x', 'DONE'] }, { inputs: { topic: 'looms', files: ['f', 'g'] } });
    expect([ended.outcome, ended.asked.toSorted()]).toEqual([
      'succeeded',
      [
        'again#1/l: l looms',
        'again#2/l: l looms',
        'each[0]/m: f looms',
        'each[1]/m: g looms',
        'par/p: p looms',
        'yes: y',
      ].toSorted(),
    ]);
  });

  it('[bad-name] prompt is there already, and a map may not call its items inputs', async () => {
    expect(await wrong('inputs: { prompt: {} }\nagents: { w: {} }\nworkflow: [{ type: agent, name: w }]\n')).toEqual([
      'bad-name: every pipeline has the input "prompt"',
    ]);
    const map = '{ id: each, type: map, as: inputs, over: "{{ $prompt }}", steps: [{ type: agent, name: w }] }';
    expect((await wrong(steps(map))).join('\n')).toContain('bad-name: as of step "each" is "inputs"');
  });

  it('[unknown-input] [no-such-path] [bad-reference] what can not be read of inputs is told with what was meant', async () => {
    const reads = (text: string): string => steps(`{ id: a, type: agent, name: w, prompt: "{{ ${text} }}" }`);
    expect(await wrong(reads('$inputs.topic.x'))).toEqual([
      'no-such-path: step "a" looks into the input "topic", which is a text',
    ]);
    expect(await wrong(reads('$inputs'))).toEqual([
      'bad-reference: step "a" refers to $inputs without naming an input',
    ]);
    expect(await wrong(reads('topic'))).toEqual(['bad-reference: step "a": "{{ topic }}" names no value']);
    expect(await wrong(reads('$input.topic'))).toEqual([
      'unknown-variable: step "a" refers to $input, which does not exist',
    ]);
  });
});
