import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** A workflow whose steps depend on each other, from its steps. */
const D = (steps: string, top = ''): string =>
  `name: t\n${top}agents:\n  w: { inline: { prompt: You write., tools: [] } }\nsteps:\n${steps}`;
/** A pipeline. */
const P = (steps: string, agents = '  w: { instruction: You write. }\n'): string =>
  `agents:\n${agents}workflow:\n${steps}`;
const one = (more: string): string => `  - id: a\n    agent: w\n    prompt: Hi\n${more}`;

/** What people get wrong in a file, its place, a word of what is wrong, and what to do. */
const IN_FILES: readonly (readonly [mistake: string, text: string, where: string, what: string, remedy: string])[] = [
  [
    'needs for depends_on',
    D(one('') + '  - id: b\n    agent: w\n    needs: [a]\n    prompt: x\n'),
    '10:5',
    'b',
    'did you mean "depends_on"?',
  ],
  ['if for condition', D(one('    if: "yes"\n')), '8:5', 'a', 'did you mean "condition"?'],
  ['when for condition', D(one('    when: "yes"\n')), '8:5', 'a', 'did you mean "condition"?'],
  ['retry', D(one('    retry: 3\n')), '8:5', 'a', 'did you mean "retry_count"?'],
  ['retries', D(one('    retries: 3\n')), '8:5', 'a', 'did you mean "retry_count"?'],
  ['continue-on-error', D(one('    continue-on-error: true\n')), '8:5', 'a', 'did you mean "on_error"?'],
  [
    'system in inline agent',
    'name: t\nagents:\n  w: { inline: { system: You write. } }\nsteps:\n' + one(''),
    '3:18',
    'w',
    'did you mean "prompt"?',
  ],
  [
    'instructions in inline agent',
    'name: t\nagents:\n  w: { inline: { instructions: You write. } }\nsteps:\n' + one(''),
    '3:18',
    'w',
    'did you mean "prompt"?',
  ],
  [
    'misspelt depends_on',
    D(one('') + '  - { id: b, agent: w, depend_on: [a], prompt: x }\n'),
    '8:24',
    'b',
    'did you mean "depends_on"?',
  ],
  ['misspelt agent', D('  - { id: a, agent: wr, prompt: x }\n'), '5:21', 'wr', 'agents of this workflow: w'],
  ['misspelt prompt', D('  - { id: a, agent: w, promt: x }\n'), '5:24', 'a', 'did you mean "prompt"?'],
  [
    'unknown step in reference',
    D(one('') + '  - { id: b, agent: w, depends_on: [a], prompt: "{{steps.aa.output}}" }\n'),
    '8:50',
    'aa',
    'steps are: a, b',
  ],
  [
    'not upstream',
    D(one('') + '  - { id: b, agent: w, prompt: "{{steps.a.output}}" }\n'),
    '8:33',
    'a',
    'add a to its depends_on',
  ],
  [
    'unknown dependency',
    D(one('') + '  - { id: b, agent: w, depends_on: [aa], prompt: x }\n'),
    '8:37',
    'aa',
    'steps are: a, b',
  ],
  [
    'cycle',
    D('  - { id: a, agent: w, depends_on: [b], prompt: x }\n  - { id: b, agent: w, depends_on: [a], prompt: x }\n'),
    '6:37',
    'a -> b',
    'remove one of the dependencies',
  ],
  ['same id twice', D(one('') + one('')), '8:9', 'a', 'the first one is on line 5'],
  [
    'bare step name',
    D(one('') + '  - { id: b, agent: w, depends_on: [a], prompt: "{{a}}" }\n'),
    '8:50',
    '{{a}}',
    'did you mean {{steps.a.output}}? A backslash before the braces writes them as text',
  ],
  [
    'bare input name',
    D('  - { id: a, agent: w, prompt: "{{topic}}" }\n', 'inputs: { topic: { default: x } }\n'),
    '6:33',
    '{{topic}}',
    'did you mean {{inputs.topic}}? A backslash before the braces writes them as text',
  ],
  [
    'undeclared input',
    D('  - { id: a, agent: w, prompt: "{{inputs.topik}}" }\n', 'inputs: { topic: { default: x } }\n'),
    '6:33',
    'topik',
    'did you mean "topic"?',
  ],
  ['workflow for steps', D(one('')).replace('steps:', 'workflow:'), '4:1', 'workflow', 'did you mean "steps"?'],
  [
    'jobs for steps',
    D(one('')).replace('steps:', 'jobs:'),
    '4:1',
    'a CI workflow',
    'a DAG workflow has the keys name and steps',
  ],
  ['tasks for steps', D(one('')).replace('steps:', 'tasks:'), '4:1', 'tasks', 'did you mean "steps"?'],
  [
    'no steps',
    D('').replace('steps:\n', ''),
    '1:1',
    'has no steps',
    'add a list: steps: [{id: ..., agent: ..., prompt: ...}]',
  ],
  ['empty steps', D(''), '4:7', 'has no steps', 'add a list: steps: [{id: ..., agent: ..., prompt: ...}]'],
  ['steps is a map', D('  a: { agent: w, prompt: x }\n'), '5:3', 'be a list', 'begin each step with "- id: NAME"'],
  [
    'prompt one deeper',
    D('  - id: a\n    agent: w\n     prompt: Hi\n'),
    '6:12',
    'in compact mappings',
    'begin the keys of a map in one column; text with ": " in it needs quotes, or the form "key: |"',
  ],
  [
    'prompt less',
    D('  - id: a\n    agent: w\n   prompt: Hi\n'),
    '7:1',
    'without - indicator',
    'check brackets, quotes and indentation up to this place',
  ],
  ['tab', D('  - id: a\n\tagent: w\n'), '6:1', 'allowed as indentation', 'indent with spaces'],
  [
    'dash column',
    D(one('') + ' - id: b\n    agent: w\n'),
    '8:1',
    'implicit map key',
    'begin the keys of a map in one column; text with ": " in it needs quotes, or the form "key: |"',
  ],
  [
    'unquoted braces',
    D('  - id: a\n    agent: w\n    prompt: {{inputs.x}} please\n'),
    '7:26',
    'at node end',
    'put quotes around text that contains {{ }}',
  ],
  [
    'colon in text',
    D('  - id: a\n    agent: w\n    prompt: Say: yes or no\n'),
    '7:13',
    'in compact mappings',
    'begin the keys of a map in one column; text with ": " in it needs quotes, or the form "key: |"',
  ],
  [
    'unclosed quote',
    D('  - id: a\n    agent: w\n    prompt: "Say hi\n'),
    '8:1',
    'Missing closing "quote',
    'check brackets, quotes and indentation up to this place',
  ],
  [
    'unclosed bracket',
    D('  - { id: a, agent: w, prompt: x, depends_on: [\n'),
    '6:1',
    'with a ]',
    'indent the lines of a list or map alike, with spaces',
  ],
  [
    'timeout without unit',
    D(one('    timeout: 30 parsecs\n')),
    '8:14',
    '30 parsecs',
    'write 90s, 10m or 1h30m; at most 24 days',
  ],
  ['retry_count text', D(one('    retry_count: many\n')), '8:18', 'many', 'write digits, without quotes'],
  [
    'on_error value',
    D(one('    on_error: ignore_it\n')),
    '8:15',
    'ignore_it',
    'write one of: fail, continue, skip, retry',
  ],
  ['missing agent', D('  - { id: a, prompt: x }\n'), '5:5', 'a', 'add "agent: NAME"'],
  ['missing id', D('  - { agent: w, prompt: x }\n'), '5:5', 'has no id', 'add "id: NAME"'],
  [
    'bad id',
    D('  - { id: "a b", agent: w, prompt: x }\n'),
    '5:11',
    'a b',
    'use letters, digits, _ and -, at most 64, and no - in front',
  ],
  [
    'agent file missing',
    'name: t\nagents:\n  w: { file: agents/none.agent.md }\nsteps:\n' + one(''),
    '3:14',
    'w',
    'check the path; it is relative to where it is named',
  ],
  [
    'inline not indented',
    'name: t\nagents:\n  w:\n  inline:\n    prompt: You write.\nsteps:\n' + one(''),
    '4:3',
    'inline',
    'indent inline deeper than w',
  ],
  [
    'unknown tool',
    'name: t\nagents:\n  w: { inline: { prompt: You write., tools: [read_fil] } }\nsteps:\n' + one(''),
    '3:46',
    'read_fil',
    'did you mean "read_file"?',
  ],
  [
    'server without command',
    'name: t\nagents:\n  w: { inline: { prompt: You write., mcp-servers: { s: { args: [x] } } } }\nsteps:\n' + one(''),
    '3:56',
    'w',
    'add command: PROGRAM, or url: ADDRESS',
  ],
  [
    'mcp_servers',
    'name: t\nagents:\n  w: { inline: { prompt: You write., mcp_servers: { s: { command: x } } } }\nsteps:\n' + one(''),
    '3:38',
    'w',
    'did you mean "mcp-servers"?',
  ],
  ['output format', D(one(''), '') + 'output: { format: pdf }\n', '8:19', 'pdf', 'one of: markdown, plain, text, json'],
  ['output unknown step', D(one('')) + 'output: { steps: [b] }\n', '8:19', 'b', 'steps are: a'],
  ['p type missing', P('  - { id: a, name: w }\n'), '4:5', 'step requires type', 'add "type: agent"'],
  ['p unknown type', P('  - { id: a, type: agnet, name: w }\n'), '4:20', 'agnet', 'did you mean "agent"?'],
  ['p unknown agent', P('  - { id: a, type: agent, name: ww }\n'), '4:33', 'ww', 'agents are: w'],
  [
    'p goto unknown',
    P('  - { id: a, type: agent, name: w }\n  - { type: goto, target: b }\n'),
    '5:19',
    'target',
    'did you mean "goto"?',
  ],
  [
    'p instructions',
    P('  - { id: a, type: agent, name: w }\n', '  w: { instructions: You write. }\n'),
    '2:8',
    'w',
    'did you mean "instruction"?',
  ],
  [
    'p tools',
    P('  - { id: a, type: agent, name: w }\n', '  w: { instruction: You write., tools: [x] }\n'),
    '2:33',
    'w',
    'did you mean "toolsets"?',
  ],
  [
    'p unknown ref',
    P('  - { id: a, type: agent, name: w }\n  - { id: b, type: agent, name: w, prompt: "{{ $steps.aa.output }}" }\n'),
    '5:45',
    'aa',
    'steps are: a, b',
  ],
  [
    'p bare ref',
    P('  - { id: a, type: agent, name: w }\n  - { id: b, type: agent, name: w, prompt: "{{ a }}" }\n'),
    '5:45',
    '{{ a }}',
    'did you mean {{ $steps.a.output }}? A backslash before the braces writes them as text',
  ],
  [
    'p model',
    P('  - { id: a, type: agent, name: w }\n', '  w: { model: openai, instruction: You write. }\n'),
    '2:15',
    'openai',
    'write provider/model, or declare the model under models',
  ],
  [
    'p steps for workflow',
    P('  - { id: a, type: agent, name: w }\n').replace('workflow:', 'steps:'),
    '3:1',
    'steps',
    'did you mean "workflow"?',
  ],
  [
    'p retry number',
    P('  - { id: a, type: agent, name: w, retry: 3 }\n'),
    '4:43',
    'a',
    'its keys are: max_attempts, retries, backoff, initial_delay, initial_delay_seconds, jitter, on',
  ],
  [
    'p map over',
    P('  - { id: a, type: map, steps: [{ id: b, type: agent, name: w }] }\n'),
    '4:5',
    'nothing says what step "a" goes through',
    'add "over:" with a reference to the list to go through',
  ],
  ['empty file', '', '1:1', 'file is empty', 'begin with "name: NAME" and "steps:", or with "agents:" and "workflow:"'],
  ['list', '- a\n- b\n', '1:1', 'is a list', 'a DAG workflow has the keys name and steps'],
  ['text', 'hello\n', '1:1', 'a plain text', 'a DAG workflow has the keys name and steps'],
  ['json', '{"name": "t", "steps": [}', '1:25', 'with a ]', 'indent the lines of a list or map alike, with spaces'],
  [
    'two documents',
    D(one('')) + '---\nname: u\n',
    '8:1',
    'than one document',
    'remove the line "---" and what follows',
  ],
];

const FLOW = D(one(''), 'inputs: { topic: { default: looms } }\n');

/** What people get wrong on a command line. The words, what is wrong, and what to do. */
const ON_LINES: readonly (readonly [words: readonly string[], what: string, remedy: string])[] = [
  [['init'], '"init"', 'skein new DIR'],
  [['ls'], '"ls"', 'skein runs'],
  [['list'], '"list"', 'skein runs'],
  [['status'], '"status"', 'skein show -1'],
  [['flow.yaml'], '"flow.yaml"', "skein run 'flow.yaml'"],
  [['rum', 'flow.yaml'], '"rum"', 'did you mean skein run?'],
  [['resume'], "'run'", '-1 is the newest'],
  [['show'], "'run'", '-1 is the newest'],
  [['run', 'flow'], 'flow does not exist', 'did you mean flow.yaml?'],
  [['run', 'flwo.yaml'], 'flwo.yaml does not exist', 'did you mean flow.yaml?'],
  [['run', 'flow.yaml', '--strem'], '--strem', 'did you mean --stream?'],
  [['run', 'flow.yaml', '--mock', 'script.yaml'], 'too many arguments', '--mock=script.yaml'],
  [['run', 'flow.yaml', '--mock', 'topic'], 'too many arguments', 'inputs with --input NAME=VALUE'],
  [['run', 'flow.yaml', '--mock=none.yaml'], 'none.yaml', 'path'],
  [['run', 'flow.yaml', '--mock', '--input', 'topik=x'], '"topik"', 'did you mean "topic"?'],
  [['run', 'flow.yaml', '--mock', '--input', 'topic'], 'NAME=VALUE', '--input topic=looms'],
  [['run', 'flow.yaml', '--mock', '--input-file', 'topic=none.txt'], 'none.txt', 'text file'],
  [['run', 'flow.yaml', '--mock', '--input-json', 'topic={'], 'is not JSON', '--input topic=TEXT'],
  [['run', 'flow.yaml', '--model', 'gpt-5'], 'openai/gpt-5', 'set OPENAI_API_KEY'],
  [['run', 'flow.yaml', '--model', 'opnai/gpt-5'], 'opnai', 'openai'],
  [['run', 'flow.yaml', '--model', 'openai/gpt-5-mini'], 'OPENAI_API_KEY', '--mock'],
  [['run', 'flow.yaml', '--model', 'anthropic/claude-sonnet-4-5'], 'ANTHROPIC_API_KEY', '--mock'],
  [['graph', 'flow.yaml', '--format', 'png'], 'png', 'mermaid'],
  [['show', '-1'], 'no run', 'skein run FILE'],
  [['answer', '-1', 'yes'], 'no run', 'skein run FILE'],
];

/** How much a message says: where, what, and what to do. */
interface Score {
  readonly mistake: string;
  readonly said: readonly [where: boolean, what: boolean, remedy: boolean];
  readonly text: string;
}

async function inFiles(): Promise<readonly Score[]> {
  const names = IN_FILES.map((_, index) => `f${index}.yaml`);
  const cwd = await makeProject(Object.fromEntries(IN_FILES.map(([, text], index) => [names[index] ?? '', text])));
  const end = await served(['validate', ...names, '--json'], { cwd });
  const { files } = documentOf(end) as unknown as {
    readonly files: readonly { readonly problems: readonly Found[] }[];
  };
  return IN_FILES.map(([mistake, , where, what, remedy], index) => {
    const [problem, ...more] = files[index]?.problems ?? [];
    const { at, message = '', hint = '' } = problem ?? {};
    // A second problem would say that there were two mistakes.
    const place = more.length === 0 && `${at?.line}:${at?.column}` === where;
    return { mistake, said: [place, message.includes(what), hint.includes(remedy)], text: `${message} | ${hint}` };
  });
}

interface Found {
  readonly at?: { readonly line: number; readonly column: number };
  readonly message: string;
  readonly hint?: string;
}

async function onLines(): Promise<readonly Score[]> {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const scores: Score[] = [];
  for (const [words, what, remedy] of ON_LINES) {
    const { code, stderr } = await served(words, { cwd });
    const refused = code === 1 || code === 2 || code === 3;
    scores.push({
      mistake: words.join(' '),
      said: [refused, stderr.includes(what), stderr.includes(remedy)],
      text: stderr,
    });
  }
  return scores;
}

test('[XU6] at least 66 of 70 usual mistakes are answered with where, what, and what to do', async () => {
  const scores = [...(await inFiles()), ...(await onLines())];
  expect(scores.length).toBeGreaterThanOrEqual(70);
  const less = scores.filter(({ said }) => said.includes(false));
  expect(less.map(({ mistake, said, text }) => ({ mistake, said, text }))).toEqual([]);
});
