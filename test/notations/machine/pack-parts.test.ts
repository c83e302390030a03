import { describe, expect, it } from 'vitest';
import type { Problem } from 'skein';
import { validatePack } from 'skein/machine';

type Data = Record<string, unknown>;

/** A pack of one prompt `chat`, with other parts. */
function problemsOf(more: Data, prompt: Data = {}, validators: readonly string[] = []): readonly Problem[] {
  const chat = { id: 'chat', name: 'Chat', version: '1.0.0', system_template: 'Be kind.', ...prompt };
  const base = { id: 'p', name: 'P', version: '1.0.0', template_engine: { version: 'v1', syntax: '{{variable}}' } };
  return validatePack({ ...base, prompts: { chat }, ...more }, { validators });
}

function found(more: Data, prompt: Data = {}): readonly string[] {
  return problemsOf(more, prompt).map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
}

const tool = (name: string): Data => ({ [name]: { name, description: 'does it' } });

describe('templates', () => {
  it('[A9] fragments are found in all three ways, and a variable of that name wins over the bare one', () => {
    const fragments = { intro: 'We are {{company}}.', other: 'Other.' };
    const system_template =
      '{{fragments.intro}} {{fragment:intro}} {{intro}} {{ other }} {{user.name}} {{items[0].x}} {{workflow_context}}';
    const variables = ['company', 'other', 'user', 'items'].map((name) => ({ name, type: 'string', required: true }));
    expect(found({ fragments }, { system_template, variables })).toEqual([]);
  });

  it('[A9] a placeholder that nothing declares is a warning, in fragments and in templates of single models too', () => {
    const fragments = { intro: 'We are {{compani}}.' };
    const variables = [{ name: 'company', type: 'string', required: true }];
    const model_overrides = { 'gpt-5': { system_template_suffix: '{{fragments.outro}}' } };
    const problems = problemsOf({ fragments }, { system_template: '{{intro}}', variables, model_overrides });
    expect(problems.map(({ severity, message, hint }) => [severity, message, hint])).toEqual([
      [
        'warning',
        'prompts["chat"]: {{fragments.outro}} is neither a variable nor a fragment',
        'declare it in variables',
      ],
      ['warning', 'prompts["chat"]: {{compani}} is neither a variable nor a fragment', 'did you mean "company"?'],
    ]);
  });

  it('[A9] a fragment that contains itself is an error, each loop once', () => {
    const fragments = { a: '{{fragments.b}}', b: 'x {{fragment:a}} {{c}}', c: '{{c}}', fine: '{{a}}' };
    expect(found({ fragments }, { system_template: '{{fine}}' })).toEqual([
      'error fragment-loop: fragments["a"] contains itself: "a" -> "b" -> "a"',
      'error fragment-loop: fragments["c"] contains itself: "c" -> "c"',
    ]);
  });
});

describe('fragments and variables', () => {
  it('[A9] the bare name of a variable in a fragment of that name is no loop', () => {
    const fragments = { name: 'I am {{name}}.' };
    const variables = [{ name: 'name', type: 'string', required: true }];
    expect(found({ fragments }, { system_template: '{{fragments.name}}', variables })).toEqual([]);
  });

  it('[A9] fragments that contain each other again and again are an error before they fill the memory', () => {
    const fragments = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`f${i}`, i === 39 ? 'x' : `{{f${i + 1}}}{{f${i + 1}}}`]),
    );
    expect(found({ fragments }, { system_template: '{{f0}}' })).toEqual([
      'error large-prompt: prompts["chat"] has more than 1000000 characters with its fragments',
    ]);
  });

  it('[A9] a default that its own rules refuse, a pattern that is none and a name that is there twice are errors', () => {
    const variables = [
      { name: 'n', type: 'number', required: false, default: '5' },
      { name: 'p', type: 'string', required: false, validation: { pattern: '(' } },
      { name: 'n', type: 'number', required: false },
    ];
    expect(found({}, { variables })).toEqual([
      'error bad-variable: prompts["chat"]: variable "n": its default must be number, not string',
      expect.stringMatching(/^error bad-variable: prompts\["chat"\]: variable "p": /),
      'error duplicate-variable: prompts["chat"]: variable "n" is defined twice',
    ]);
  });
});

describe('tools, agents, skills', () => {
  it.each(['workflow__x', 'skill__activate'])('[A15] a tool may not be called %s', (name) => {
    expect(found({ tools: tool(name) })).toEqual([`error reserved-tool: tools: the name "${name}" is reserved`]);
  });

  it('[issue 6] a prompt that lists a tool which the pack does not have gets a warning', () => {
    expect(found({ tools: tool('find') }, { tools: ['find', 'fnid'] })).toEqual([
      'warning unknown-tool: prompts["chat"].tools: "fnid" is not a tool of the pack',
    ]);
  });

  it('[43] agents must be prompts, and a start state needs a workflow that has it', () => {
    const agents = { entry: 'chatt', members: { chat: { state: 'b' }, other: {} } };
    expect(found({ agents })).toEqual([
      'error unknown-prompt: agents.entry "chatt" does not reference a valid prompt',
      'error unknown-state: agents.members["chat"].state "b" needs a workflow',
      'error unknown-prompt: agents.members["other"] does not reference a valid prompt',
    ]);
    const workflow = { version: 1, entry: 'a', states: { a: { prompt_task: 'chat', terminal: true } } };
    expect(found({ workflow, agents: { entry: 'chat', members: { chat: { state: 'b' } } } })).toEqual([
      'error unknown-state: agents.members["chat"].state "b" does not exist in states',
    ]);
    expect(found({ workflow, agents: { entry: 'chat', members: { chat: { state: 'a' } } } })).toEqual([]);
  });

  it('[A12] skills are beneath the folder of the pack, and not packages', () => {
    const skills = ['./a', { path: 'b/c', preload: true }, '@acme/x', '../x', { path: '/etc/x' }, 'C:\\x', 'a..b/c'];
    expect(found({ skills })).toEqual([
      'error skill-package: skills[2]: "@acme/x" names a package, which is not read',
      'error skill-outside: skills[3]: "../x" leads out of the folder of the pack',
      'error skill-outside: skills[4]: "/etc/x" leads out of the folder of the pack',
      'error skill-outside: skills[5]: "C:\\\\x" leads out of the folder of the pack',
    ]);
  });

  it('[A10] evals are kept, and said to be so once', () => {
    const one = { id: 'e', type: 'contains', trigger: 'every_turn' };
    expect(found({ evals: [one, one] }, { evals: [one] })).toEqual(['warning kept-only: evals are kept and not run']);
  });
});

describe('validators', () => {
  const of = (type: string, params?: Data): readonly string[] =>
    found({}, { validators: [{ type, enabled: true, ...(params === undefined ? {} : { params }) }] });

  it.each<[string, Data | undefined]>([
    ['banned_words', { words: ['x'] }],
    ['max_length', { max_characters: 5 }],
    ['length', { max_tokens: 5, direction: 'both' }],
    ['min_length', { min_characters: 5 }],
    ['max_sentences', { max_sentences: 2 }],
    ['required_fields', { required_fields: ['a'] }],
    ['regex', { pattern: '(?i)x', direction: 'input' }],
    ['regex_match', { pattern: 'x' }],
    ['json_valid', undefined],
  ])('[A10] %s with %j is taken', (type, params) => {
    expect(of(type, params)).toEqual([]);
  });

  it.each<[string, Data | undefined, RegExp]>([
    ['length', { direction: 'output' }, /the parameters of length say nothing$/],
    ['banned_words', undefined, /the parameters of banned_words say nothing$/],
    ['banned_words', { words: [] }, /words of banned_words must be a list of words$/],
    ['max_length', { max_characters: '5' }, /max_characters of max_length must be a whole number of at least 1$/],
    ['regex', { pattern: '' }, /pattern of regex must be a regular expression$/],
    ['regex', { pattern: 'x', direction: 'sideways' }, /direction must be output, input or both, not "sideways"$/],
    ['profanity', { words: ['x'] }, /no one implements the validator "profanity"$/],
  ])('[A10] %s with %j is an error', (type, params, message) => {
    expect(of(type, params)).toEqual([expect.stringMatching(message)]);
  });

  it('[A10] one that a program brings along is taken', () => {
    const validators = [{ type: 'profanity', enabled: true }];
    expect(problemsOf({}, { validators }, ['profanity'])).toEqual([]);
  });
});

/** The target of a choice. */
const to = (way: string, step: string): Data => ({ [way]: step });

describe('compositions', () => {
  const prompt = (id: string, more: Data = {}): Data => ({ id, kind: 'prompt', prompt_task: 'chat', ...more });
  const parallel = (branches: readonly Data[]): Data => ({
    id: 'p',
    kind: 'parallel',
    branches,
    reduce: { strategy: 'append', into: 'all' },
  });
  const of = (steps: readonly Data[], more: Data = {}): readonly string[] =>
    found({ tools: tool('find'), compositions: { c: { version: 1, steps, ...more } } });

  it('[44] ids are unique, those inside of parallel steps too, and output and depends_on name steps', () => {
    expect(
      of([prompt('a'), parallel([prompt('a'), prompt('b')]), prompt('d', { depends_on: ['x', 'b'] })], { output: 'y' }),
    ).toEqual([
      'error duplicate-step: compositions["c"]: the step "a" is defined twice',
      'error unknown-step: compositions["c"]: depends_on of step "d": "x" is not a step',
      'error unknown-step: compositions["c"]: output "y" is not a step',
    ]);
    expect(of([prompt('1a')])).toEqual([expect.stringMatching(/steps\[0\]\.id must be a text of the form/)]);
  });

  it('[44] a parallel step holds at least two steps, none of them a choice or parallel; an agent has an end', () => {
    expect(of([parallel([prompt('a')])])).toEqual([expect.stringMatching(/branches must be a list of at least 2/)]);
    const branch = { id: 'b', kind: 'branch', predicate: { path: 'x', exists: true }, ...to('then', 'a') };
    expect(of([prompt('a'), parallel([prompt('c'), branch])])).toEqual([
      'error nested-step: compositions["c"]: branch step "b" can\'t stand in the parallel step "p"',
    ]);
    expect(of([{ id: 'a', kind: 'agent', prompt_task: 'chat' }])).toEqual([
      expect.stringMatching(/termination is missing/),
    ]);
    expect(of([{ id: 'a', kind: 'agent', prompt_task: 'chat', termination: {} }])).toEqual([
      expect.stringMatching(/termination must be an object with one of: max_steps, tool_called, not none of them/),
    ]);
    expect(of([{ id: 'a', kind: 'wait' }])).toEqual([
      expect.stringMatching(/kind must be one of "prompt", "agent", "tool", "branch", "parallel"/),
    ]);
  });

  it('[45] a condition is exactly one thing, and whole', () => {
    const choice = (predicate: Data): Data => ({ id: 'b', kind: 'branch', predicate, ...to('then', 'a'), else: 'z' });
    expect(of([choice({ all_of: [{ path: 'x', op: 'equals' }], any_of: [] }), prompt('a')])).toEqual([
      expect.stringMatching(
        /predicate must be an object with exactly one of: op, exists, all_of, any_of, not, not all_of and any_of/,
      ),
    ]);
    expect(of([choice({ not: { path: 'x', op: 'equals' } }), prompt('a')])).toEqual([
      'error missing-key: compositions["c"]: predicate of step "b": value is missing',
      'error unknown-step: compositions["c"]: else of step "b": "z" is not a step',
    ]);
  });

  it('[46] steps that wait for each other are an error; names of the runtime are reserved', () => {
    expect(of([prompt('a', { depends_on: ['b'] }), prompt('b', { depends_on: ['a'] }), prompt('c')])).toEqual([
      'error step-cycle: compositions["c"]: steps wait for each other: "a", "b"',
    ]);
    expect(of([prompt('workflow__transition'), { id: 't', kind: 'tool', tool: 'workflow__set_artifact' }])).toEqual([
      'error reserved-tool: compositions["c"]: the name "workflow__transition" is reserved',
      'error reserved-tool: compositions["c"]: step "t" can\'t call workflow__set_artifact',
    ]);
  });

  it('[46] a step that only follows a choice or parallel steps gets a warning', () => {
    expect(of([parallel([prompt('a'), prompt('b')]), prompt('d')])).toEqual([
      'warning loose-step: compositions["c"]: step "d" follows the parallel step "p" without depends_on',
    ]);
    expect(of([parallel([prompt('a'), prompt('b')]), prompt('d', { depends_on: ['p'] })])).toEqual([]);
  });

  it('[46] prompts and tools of steps are those of the pack', () => {
    expect(of([prompt('a', { prompt_task: 'chatt' }), { id: 't', kind: 'tool', tool: 'fnid' }])).toEqual([
      'error unknown-prompt: compositions["c"]: prompt_task "chatt" of step "a" does not reference a valid prompt',
      'warning unknown-tool: compositions["c"]: step "t": "fnid" is not a tool of the pack',
    ]);
  });

  it('a key of a step that is nearly a known one is a warning', () => {
    expect(of([prompt('a', { depend_on: [], host: 1 })])).toEqual([
      'warning unknown-key: compositions["c"].steps[0]: unknown key "depend_on" has no effect',
    ]);
  });
});
