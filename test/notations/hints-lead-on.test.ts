import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { loadWorkflowText } from '../../src/yaml.js';

/** A file with one mistake, marked by `<<` and `>>`, and what stands there instead when its hint was followed. */
type Case = readonly [code: string, text: string, more?: Follow];

/** Makes of a hint what the reader of it would write in the place of the mistake. */
type Follow = (hint: string) => string;

const named = (cases: readonly Case[]) => cases.map(([code, text, follow]) => ({ code, text, follow }));

const quoted: Follow = (hint) => /"([^"]+)"\??$/.exec(hint)?.[1] ?? '';
const written: Follow = (hint) => /write (\$\S+)$/.exec(hint)?.[1] ?? '';
const added: Follow = (hint) => /add "([^"]+)"/.exec(hint)?.[1] ?? '';
const nothing: Follow = () => '';

async function problemsOf(text: string): Promise<readonly Problem[]> {
  return (await loadWorkflowText(text, { cwd: '/nowhere' })).problems;
}

/** Follows the hint of the first problem with the code; what is left afterwards. */
async function followed(code: string, marked: string, follow: Follow = quoted): Promise<readonly string[]> {
  const mistake = /<<(.*?)>>/.exec(marked)?.[1] ?? '';
  const problems = await problemsOf(marked.replace(/<<(.*?)>>/, '$1'));
  const problem = problems.find((one) => one.code === code);
  if (problem?.hint === undefined) throw new Error(`no ${code}: ${problems.map((one) => one.code).join()}`);
  const put = follow(problem.hint);
  expect(put, problem.hint).not.toBe(mistake);
  const left = await problemsOf(marked.replace(/<<.*?>>/, () => put));
  return left
    .filter((one) => one.severity === 'error' || one.code === code)
    .map((one) => `${one.code}: ${one.message}`);
}

const AGENTS = `agents:
  a: { instruction: You work. }
  qa: { instruction: You judge., structured_output: { schema: { type: object, properties: { ok: { type: boolean } } } } }
`;
const flow = (...steps: readonly string[]): string =>
  `${AGENTS}workflow:\n${steps.map((step) => `  - ${step}\n`).join('')}`;
const asks = (reference: string): string => `{ type: agent, name: a, prompt: "{{ <<${reference}>> }}" }`;
const NESTED = `{ id: outer, type: parallel, steps: [{ id: inner, type: parallel, steps: [{ id: x, type: agent, name: a }] }] }`;
const DECIDING = `{ id: block, type: parallel, steps: [{ id: c, type: condition, condition: $steps.s.output, true: [{ id: y, type: agent, name: a }] }] }`;
const SEQUENCE = `{ id: seq, type: sequence, steps: [{ id: x, type: agent, name: a }] }`;
const FIRST = '{ id: s, type: agent, name: a }';

describe('the hint of a problem of a pipeline leads to a file without that problem, and to no other error', () => {
  it.each(
    named([
      ['unknown-agent', flow('{ type: agent, name: <<aa>> }').replace('name: <<aa>>', 'name: <<qaa>>')],
      [
        'unknown-step',
        flow(FIRST, '{ id: second, type: agent, name: a }', asks('$steps.secnd.output'), FIRST.replace('s,', 't,')),
        (hint) => `$steps.${quoted(hint)}.output`,
      ],
      ['unknown-step', flow(NESTED, asks('$steps.x.output')), written],
      ['unknown-step', flow(SEQUENCE, asks('$steps.x.output')), written],
      [
        'unknown-step',
        flow(NESTED, asks('$steps.inner.output')),
        (hint) => `$steps.${/\b(outer)\b/.exec(hint)?.[1] ?? ''}.outputs.inner.outputs.x.output`,
      ],
      ['missing-output', flow(FIRST, asks('$steps.s')), written],
      ['unknown-member', flow(FIRST, asks('$steps.s.outptu')), (hint) => `$steps.s.${quoted(hint)}`],
      [
        'unknown-member',
        flow(FIRST, '{ type: condition, condition: <<$steps.s.outptu>>, true: [{ type: agent, name: a }] }'),
        (hint) => `$steps.s.${quoted(hint)}`,
      ],
      ['missing-output', flow(FIRST, asks('$steps.s.outputs')), written],
      ['missing-output', flow(NESTED, asks('$steps.outer.output')), written],
      ['missing-output', flow(NESTED, asks('$steps.outer.outputs.inner.output')), written],
      ['missing-output', flow(FIRST, DECIDING, asks('$steps.block.output')), written],
      ['missing-output', flow(SEQUENCE, asks('$steps.seq.output')), written],
      [
        'no-such-path',
        flow('{ id: q, type: agent, name: qa }', asks('$steps.q.output.okk')),
        (hint) => `$steps.q.output.${quoted(hint)}`,
      ],
      ['unknown-key', flow('{ type: agent, name: a, <<promt>>: Hi }')],
      ['unknown-key', flow('{ type: agent, name: a, <<superwise>>: Hi }'), () => 'prompt'],
      ['unknown-value', flow('{ type: <<agnet>>, name: a }')],
      ['unknown-value', flow('{ type: <<sequense>>, steps: [{ type: agent, name: a }] }')],
      ['unknown-value', flow('{ type: agent, name: a, retry: { max_attempts: 1, on: [<<overload>>] } }')],
      ['missing-type', flow('{ <<>>name: a }'), (hint) => `${added(hint)}, `],
      ['missing-type', flow('{ <<>>steps: [{ type: agent, name: a }] }'), (hint) => `${added(hint)}, `],
      ['missing-type', flow('{ <<>>workflow: [{ type: agent, name: a }] }'), (hint) => `${added(hint)}, `],
      [
        'runs-once',
        flow(FIRST, '{ type: condition, condition: $steps.s.output, false: [<<{ type: agent, name: a }>>] }'),
        (hint) => `{ ${/put (goto: \w+)/.exec(hint)?.[1] ?? ''} }`,
      ],
      [
        'unknown-step',
        flow(
          FIRST.replace('id: s,', 'id: start,'),
          '{ type: condition, condition: $steps.start.output, false: { goto: <<strat>> } }',
        ),
      ],
      [
        'bad-duration',
        flow('{ type: agent, name: a, timeout: <<"30">> }'),
        (hint) => /write (\S+)/.exec(hint)?.[1] ?? '',
      ],
      ['unknown-model', `models: { fast: { provider: openai, model: m } }\nagents: { a: { model: <<fsat>> } }\n`],
      ['unknown-provider', `agents: { a: { model: <<opnai>>/m } }\n`],
      ['unknown-toolset', `agents: { a: { toolsets: [{ type: <<shel>> }] } }\n`],
      ['unknown-tool', `agents: { a: { toolsets: [{ type: filesystem, tools: [<<red_file>>] }] } }\n`],
      [
        'unknown-tool',
        `agents: { a: { toolsets: [{ type: filesystem, tools: [<<creat_directory>>] }] } }\n`,
        (hint) => /: (\w+)/.exec(hint)?.[1] ?? 'read_file',
      ],
      ['unknown-mcp', `mcps: { hub: { command: x } }\nagents: { a: { toolsets: [{ type: mcp, ref: <<hbu>> }] } }\n`],
      [
        'unknown-value',
        `version: <<"99">>\nagents: { a: {} }\n`,
        (hint) => `"${/version: "(\d+)"/.exec(hint)?.[1] ?? ''}"`,
      ],
      [
        'not-supported',
        `agents: { a: { instruction: x } }\nworkflow: [{ type: agent, name: a }, { type: ask, question: q<<, supervise: true>> }]\n`,
        nothing,
      ],
      [
        'missing-instruction',
        `agents: { a: {} }\nworkflow: [{ type: sequence, supervise: <<true>>, steps: [{ type: agent, name: a }] }]\n`,
        () => '{ instruction: TEXT }',
      ],
      [
        'human-gate',
        `supervise: { human: true }\nagents: { a: {} }\nworkflow: [{ type: agent, name: a, supervise: <<false>> }]\n`,
        (hint) => /supervise: (\{.*\})/.exec(hint)?.[1] ?? '',
      ],
    ]),
  )('[XP9] $code in $text', async ({ code, text, follow }) => {
    expect(await followed(code, text, follow)).toEqual([]);
  });

  it('[XP9] no hint advises a jump to a step that runs beside', async () => {
    const branch = '{ type: condition, condition: $steps.s.output, true: [{ type: agent, name: a }] }';
    const text = flow(FIRST, `{ type: parallel, steps: [{ type: agent, name: a }, ${branch}] }`);
    expect(await problemsOf(text)).toEqual([]);
  });
});

const dag = (steps: string, head = ''): string =>
  `name: flow\n${head}agents: { a: { inline: { prompt: You work. } } }\nsteps:\n  - { id: s, agent: a, prompt: Hi }\n${steps}`;
const second = (keys: string): string => `  - { id: t, agent: a, prompt: Hi, ${keys} }\n`;

describe('the hint of a problem of a DAG file leads to a file without that problem, and to no other error', () => {
  it.each(
    named([
      [
        'unknown-step',
        dag(second('depends_on: [<<ss>>]')).replaceAll('id: s,', 'id: start,').replace('<<ss>>', '<<strat>>'),
      ],
      ['unknown-key', dag(second('<<depend_on>>: [s]'))],
      ['unknown-agent', dag('').replace('agent: a,', 'agent: <<writr>>,').replace('{ a: {', '{ writer: {')],
      [
        'unknown-input',
        dag('', 'inputs: { topic: { description: x } }\n').replace('prompt: Hi', 'prompt: "{{inputs.<<topc>>}}"'),
      ],
      [
        'not-upstream',
        dag(second('<<x>>'))
          .replace(', <<x>>', '<<>>')
          .replace('id: t, agent: a, prompt: Hi', 'id: t, agent: a, prompt: "{{steps.s.output}}"'),
        (hint) => `, depends_on: [${/add (\w+) to/.exec(hint)?.[1] ?? ''}]`,
      ],
      ['unknown-member', dag(second('depends_on: [s], condition: { cel: \'steps.s.<<outptu>> == "x"\' }'))],
      ['bad-duration', dag(second('timeout: <<"30">>')), (hint) => /write (\S+)/.exec(hint)?.[1] ?? ''],
      ['missing-id', dag('  - { <<>>agent: a, prompt: Hi }\n'), (hint) => `${added(hint)}, `],
      ['missing-agent', dag('  - { id: t, <<>>prompt: Hi }\n'), (hint) => `${added(hint).replace('NAME', 'a')}, `],
      ['missing-prompt', dag('  - { id: t, agent: a<<>> }\n'), (hint) => `, ${added(hint)}`],
      [
        'condition-step',
        dag(second('depends_on: [s], condition: { <<>>contains: x }')),
        (hint) => `${added(hint).replace('ID', 's')}, `,
      ],
      [
        'no-effect',
        dag('', 'config: { shared_memory: { <<>>inject_into_prompt: true } }\n'),
        (hint) => `${/add (.+)$/.exec(hint)?.[1] ?? ''}, `,
      ],
      ['unknown-value', dag(second('on_error: <<continu>>'))],
      [
        'wrong-type',
        dag(second('depends_on: [s], condition: <<steps.s.output == "yes">>')),
        (hint) => (/condition: (.+)$/.exec(hint)?.[1] ?? '').replace('ID', 's'),
      ],
      ['unknown-value', dag('', 'output: { format: <<markdwon>> }\n')],
      ['unknown-value', dag('', 'config: { provider: { type: <<opnai>> } }\n')],
      [
        'no-steps',
        `name: flow\nagents: { a: { inline: { prompt: x } } }\n<<>>`,
        (hint) =>
          (/add a list: (.+)$/.exec(hint)?.[1] ?? '')
            .replace('id: ...', 'id: x')
            .replace('agent: ...', 'agent: a')
            .replace('prompt: ...', 'prompt: Hi'),
      ],
    ]),
  )('[XP9] $code in $text', async ({ code, text, follow }) => {
    expect(await followed(code, text, follow)).toEqual([]);
  });
});
