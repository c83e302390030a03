import { describe, expect, it } from 'vitest';
import type { Message, Model, ModelRequest } from '../../src/agent/model.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import type { AgentSpec, Permissions } from '../../src/plan/agent-spec.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { toolServer } from '../mcp/support.js';
import { folder } from '../tools/support/session.js';
import type { Said } from './support/counted-agent.js';
import { countedRun, modelOf, recordUntil } from './support/counted-agent.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';
import { agentNode } from './support/step.js';

const SAID: readonly Said[] = [
  {
    calls: [
      ['rm', '{"path":"a"}'],
      ['look', '{"path":"b"}'],
      ['rm', '{"path":"keep/c"}'],
    ],
  },
  { text: 'Done.' },
];

function tools() {
  const did: string[] = [];
  const make = (name: string, effect: 'read' | 'once') =>
    tool(
      name,
      (input) => {
        did.push(`${name} ${input['path'] as string}`);
        return `${name} done`;
      },
      { effect },
    );
  return { list: [make('rm', 'once'), make('look', 'read')], did };
}

const resultsIn = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : []));

const withRules = (permissions: Permissions): Partial<AgentSpec> => ({ permissions });

describe('the rules of an agent', () => {
  it('deny: the call is not made, nobody is asked, and the model is told which rule it was', async () => {
    const { list, did } = tools();
    const spec = withRules({ deny: ['rm:path=keep*'], allow: ['rm'] });
    const { result, step, counts } = await countedRun({ said: SAID, spec, tools: list });
    expect(outputOf(result)).toBe('Done.');
    expect(did).toEqual(['rm a', 'look b']);
    expect(step.asked).toEqual([]);
    expect(step.effects).not.toContain('tool#1.3');
    const output =
      'Error: this call was refused: the rule "rm:path=keep*" of this workflow forbids it. Do not try to reach the same in another way.';
    expect(counts.requests[1]?.messages.at(-1)).toMatchObject({
      results: [{ isError: false }, { isError: false }, { isError: true, output }],
    });
  });

  it('without a rule: what is not just reading waits for a person, who can say no', async () => {
    const { list, did } = tools();
    const answer = (_: unknown, name: string) => (name.endsWith('1.1') ? 'allow' : 'deny');
    const { step } = await countedRun({ said: SAID, spec: withRules({}), tools: list, answer });
    expect(step.askedAs).toEqual(['ask:approve#1.1', 'ask:approve#1.3']);
    expect(did.toSorted()).toEqual(['look b', 'rm a']);
  });

  it('nobody is there: the step pauses, and goes on with the answer', async () => {
    const { list, did } = tools();
    const spec = withRules({ allow: ['rm:path=a'] });
    const paused = await countedRun({ said: SAID, spec, tools: list });
    expect(paused.result).toMatchObject({ type: 'paused', question: { evidence: { input: { path: 'keep/c' } } } });
    expect(did.toSorted()).toEqual(['look b', 'rm a']);
    const replay = paused.step.record;
    const after = await countedRun({ said: SAID, spec, tools: list, replay, answer: () => 'allow' });
    expect(outputOf(after.result)).toBe('Done.');
    expect(did).toEqual(['rm a', 'look b', 'rm keep/c']);
  });

  it('ask: also what is only reading', async () => {
    const { list } = tools();
    const { step } = await countedRun({
      said: SAID,
      spec: withRules({ ask: ['look'], allow: ['rm'] }),
      tools: list,
      answer: () => 'allow',
    });
    expect(step.asked.map(({ text }) => text)).toEqual(['May the agent "reviewer" call look?']);
  });

  it('approve asks also where a rule allows', async () => {
    const spec = { approve: ['rm'], ...withRules({ allow: ['*'] }) };
    const { step } = await countedRun({ said: SAID, spec, tools: tools().list, answer: () => 'allow' });
    expect(step.askedAs).toEqual(['ask:approve#1.1', 'ask:approve#1.3']);
  });

  it('an agent without rules is asked about by approve alone', async () => {
    const { list, did } = tools();
    const { step } = await countedRun({ said: SAID, tools: list });
    expect([step.asked, did]).toEqual([[], ['rm a', 'look b', 'rm keep/c']]);
  });

  it('a tool that nobody has is answered at once', async () => {
    const said: readonly Said[] = [{ calls: [['nothing', '{}']] }, { text: 'Done.' }];
    const { step } = await countedRun({ said, spec: withRules({}), tools: tools().list });
    expect(step.asked).toEqual([]);
    expect(step.of('tool.ended')[0]?.output).toContain('there is no tool "nothing"');
  });

  it('one that came up after the step began is refused, unless a rule allows it', async () => {
    const came = async (permissions: Permissions) => {
      const { list, did } = tools();
      const [rm, look] = list;
      const spec = withRules(permissions);
      const record = await recordUntil('tool#1.1', { said: SAID, spec, tools: [look!] });
      const replay = new Map([...record].filter(([name]) => !name.startsWith('tool#')));
      const { step } = await countedRun({ said: SAID, spec, tools: [rm!, look!], replay });
      return { did, output: step.of('tool.ended').find((note) => note.tool === 'rm')?.output };
    };
    const refused = await came({});
    expect([refused.did, refused.output]).toEqual([['look b'], expect.stringContaining('a person must allow it')]);
    expect((await came({ allow: ['rm'] })).did.toSorted()).toEqual(['look b', 'rm a', 'rm keep/c']);
  });

  it('a rule that cannot be used fails the step', async () => {
    const { result, counts } = await countedRun({ said: SAID, spec: withRules({ deny: ['shell:rm *'] }) });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_DEFINITION' });
    expect(counts.turns).toEqual([]);
  });

  it('a back end with a loop of its own is held to them too', async () => {
    const { list, did } = tools();
    const backEnd: Model = {
      id: 'own/m',
      async *stream(request) {
        const { output } = await request.dispatch({ id: '1', name: 'rm', input: '{"path":"a"}' });
        yield { type: 'text', text: output };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const { result } = await runAgent({
      spec: { models: ['own/m'], permissions: { deny: ['rm'] } },
      models: { providers: { own: () => backEnd } },
      tools: list,
    });
    expect([outputOf(result), did]).toEqual([expect.stringContaining('the rule "rm" of this workflow forbids it'), []]);
  });
});

describe('a replay', () => {
  it('decides the same, in another folder and with the same record', async () => {
    const spec = withRules({ deny: ['rm:path=a'], allow: ['rm'] });
    const { list, did } = tools();
    const first = await countedRun({ said: SAID, spec, tools: list });
    expect(did).toEqual(['look b', 'rm keep/c']);
    const again = await countedRun({ said: [], spec, tools: list, replay: first.step.record });
    expect(outputOf(again.result)).toBe('Done.');
    expect([did.length, again.counts.turns]).toEqual([2, []]);
    expect(again.step.of('tool.ended')).toEqual(first.step.of('tool.ended'));
  });

  it('the working directory for rules about paths is that of the step when it began', async () => {
    const said: readonly Said[] = [{ calls: [['write_file', '{"path":"/one/a"}']] }, { text: 'Done.' }];
    const wrote: string[] = [];
    const write = tool('write_file', () => String(wrote.push('x')), { effect: 'once' });
    const spec = withRules({ deny: ['write_file:path=a'], allow: ['write_file'] });
    const first = await countedRun({ said, spec, tools: [write], cwd: '/one' });
    const again = await countedRun({ said, spec, tools: [write], cwd: '/two', replay: first.step.record });
    expect(wrote).toEqual([]);
    expect(again.step.effects).toEqual(first.step.effects);
    await countedRun({ said, spec, tools: [write], cwd: '/two' });
    expect(wrote).toEqual(['x']);
  });

  it('with other rules decides anew what the model is told', async () => {
    const store = memoryStore();
    const session = async (permissions: Permissions, more: object) => {
      const asked: ModelRequest[] = [];
      const said: readonly Said[] = [{ calls: [['think', '{"thought":"hm"}']] }, { text: 'Done.' }];
      const providers = { own: () => modelOf('own/m', said, asked) };
      const node = agentNode({ models: ['own/m'], tools: ['think'], permissions });
      const plan = {
        format: 1 as const,
        name: 'one',
        inputs: [],
        channels: [{ name: 'steps.review.output' }],
        nodes: [{ ...node, writes: ['steps.review.output'] }],
        edges: [],
        routes: [],
      };
      await run({ plan }, { store, models: { env: {}, providers }, ...more }).result;
      return asked.map(({ caller, messages }) => [caller.turn, resultsIn(messages)]);
    };
    expect(await session({ deny: ['a'] }, { runId: 'one' })).toEqual([
      [1, []],
      [2, ['hm']],
    ]);
    expect(await session({ deny: ['a'] }, { runId: 'two', fork: { run: 'one' } })).toEqual([]);
    // The first turn is the same as before, and is not paid for again.
    expect(await session({ deny: ['think'] }, { runId: 'three', fork: { run: 'one' } })).toEqual([
      [2, [expect.stringContaining('the rule "think" of this workflow forbids it')]],
    ]);
  });
});

it('a real MCP server: its tools are known to the rules by server and by their own names', async () => {
  const said: readonly Said[] = [
    {
      calls: [
        ['mcp_kit_echo', '{"text":"hi"}'],
        ['mcp_kit_args', '{}'],
        ['mcp_kit_cwd', '{}'],
      ],
    },
    { text: 'Done.' },
  ];
  const cwd = await folder();
  const { createToolProvider } = await import('../../src/agent/tools/provider.js');
  const asked: ModelRequest[] = [];
  const { step } = await runAgent({
    spec: {
      models: ['own/m'],
      tools: ['kit/*'],
      mcpServers: { kit: toolServer('tools=echo,args,cwd') },
      permissions: { allow: ['mcp:kit:echo:text=h*'], deny: ['args'] },
    },
    registry: createModelRegistry({
      env: {},
      noProbe: true,
      providers: { own: () => modelOf('own/m', said, asked) },
    }),
    tools: createToolProvider({ cwd, env: { PATH: process.env['PATH'] } }),
    answer: () => 'deny',
  });
  const ended = new Map(step.of('tool.ended').map(({ tool: name, output }) => [name, output]));
  expect(ended.get('mcp_kit_echo')).toBe('hi');
  expect(ended.get('mcp_kit_args')).toContain('the rule "args" of this workflow forbids it');
  expect(ended.get('mcp_kit_cwd')).toBe('Error: a person refused this call');
  expect(step.asked.map(({ text }) => text)).toEqual([
    'May the agent "reviewer" call mcp_kit_cwd? Untrusted text influenced it.',
  ]);
});
