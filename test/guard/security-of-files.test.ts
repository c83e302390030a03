import { describe, expect, it } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions, Runnable } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import { agent, goal, sequence, workflow } from 'skein/tree';
import { loadWorkflow } from 'skein/yaml';
import type { ModelRequest } from '../../src/agent/model.js';
import { makeProject } from '../notations/project.js';
import { billing } from '../budget/billed.js';

const AGENTS = 'agents: { w: { inline: { prompt: You read., tools: [read_file] } } }';
const DAG = (file: string, step: string, end = ''): string =>
  `name: t\n${file}\n${AGENTS}\nsteps:\n  - { id: one, agent: w, prompt: Read.${step} }\n${end}`;
const LOOP = `name: t
${AGENTS}
steps:
  - { id: each, type: loop, max_rounds: 1, until: { line: done }, security: paranoid, steps: [{ id: one, agent: w, prompt: Read. }] }
`;
const PIPELINE = (file: string, step: string): string =>
  `agents: { w: { instruction: You read., toolsets: [{ type: filesystem, tools: [read_file] }] } }\n${file}\nworkflow:\n  - { id: one, type: agent, name: w${step} }\n`;
const MAP = `agents: { w: { instruction: You read., toolsets: [{ type: filesystem, tools: [read_file] }] } }
workflow:
  - { id: each, type: map, over: "{{ $prompt }}", security: paranoid, steps: [{ id: one, type: agent, name: w }] }
`;
const CALL = 'agents: {}\nworkflow:\n  - { id: call, type: call, file: inner.yaml, security: paranoid }\n';
const AGENTFILE = (file: string, of: string): string =>
  `NAME t\n${file}\nAGENT w "You read."\nGOAL one "Read." USING w${of}\nRUN main USING one\n`;
const PACK = (skein: object): string =>
  JSON.stringify({
    id: 't',
    name: 't',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    tools: { read_file: { name: 'read_file', description: 'x', parameters: { type: 'object', properties: {} } } },
    prompts: { w: { id: 'w', name: 'w', version: '1.0.0', system_template: 'You read.', tools: ['read_file'] } },
    workflow: { version: 1, entry: 's', states: { s: { prompt_task: 'w' } }, engine: { skein } },
  });

/** The tool of a pack is a function of the program, of which nothing says that it only reads. */
const SENDS = [{ tool: 'read_file', free: ['path'] }];

type Open = () => Runnable | Promise<Runnable>;

const file =
  (files: Readonly<Record<string, string>>): Open =>
  async () => {
    const [name = ''] = Object.keys(files);
    const cwd = await makeProject(files);
    const loaded = await loadWorkflow(name, { cwd, pack: { tools: { read_file: () => 'x' } } });
    expect(loaded.problems).toEqual([]);
    return loaded;
  };

const tree = (of: 'workflow' | 'sequence' | 'goal' | 'agent'): Open => {
  const careful = <T extends { security(mode: 'paranoid'): T }>(kind: typeof of, part: T): T =>
    kind === of ? part.security('paranoid') : part;
  const w = careful('agent', agent('w', 'You read.').customize({ tools: ['read_file'] }));
  const one = careful('goal', goal('one', 'Read.').using(w));
  const main = careful('sequence', sequence('main').steps(one));
  const whole = careful('workflow', workflow('t').add(main)).compile();
  return () => whole;
};

/** `security: paranoid`, and where it stands. */
const PLACES: readonly (readonly [where: string, open: Open])[] = [
  ['a DAG workflow', file({ 'f.yaml': DAG('security: paranoid', '') })],
  ['a step of a DAG workflow', file({ 'f.yaml': DAG('', ', security: paranoid') })],
  ['a loop of a DAG workflow', file({ 'f.yaml': LOOP })],
  ['a pipeline', file({ 'f.yaml': PIPELINE('security: paranoid', '') })],
  ['a step of a pipeline', file({ 'f.yaml': PIPELINE('', ', security: paranoid') })],
  ['a map of a pipeline', file({ 'f.yaml': MAP })],
  ['a call of a file without one', file({ 'f.yaml': CALL, 'inner.yaml': PIPELINE('', '') })],
  ['a pack', file({ 'p.pack.json': PACK({ security: 'paranoid', sends: SENDS }) })],
  ['a state of a pack', file({ 'p.pack.json': PACK({ states: { s: { security: 'paranoid' } }, sends: SENDS }) })],
  ['an Agentfile', file({ Agentfile: AGENTFILE('SECURITY paranoid', '') })],
  ['a goal of an Agentfile', file({ Agentfile: AGENTFILE('', ' SECURITY paranoid') })],
  ['an agent.toml', file({ Agentfile: AGENTFILE('', ''), 'agent.toml': '[security]\nmode = "paranoid"\n' })],
  ['a tree', tree('workflow')],
  ['a sequence', tree('sequence')],
  ['a goal', tree('goal')],
  ['an agent of a tree', tree('agent')],
  [
    'a graph around a file',
    async () => {
      const inner = await file({ 'f.yaml': DAG('', '') })();
      return graph<object>({ security: 'paranoid' })
        .node('in', workflowNode(inner as never, 'inner'))
        .compile();
    },
  ],
];

const last = ({ messages }: ModelRequest): ModelRequest['messages'][number] | undefined => messages.at(-1);

describe.each(PLACES)('security: paranoid of %s', (_where, open) => {
  const play = async (options: RunOptions) => {
    const cwd = await makeProject({ 'notes.md': 'A note.' });
    const phases: string[] = [];
    let read = '';
    const own = billing({
      say: (request) => {
        const { phase } = request.caller;
        if (phase !== undefined) phases.push(phase);
        if (phase === 'screen') return '{"verdict":"safe","reason":""}';
        if (phase === 'review') return '{"verdict":"deny","reason":"no"}';
        const message = last(request);
        if (message?.role === 'tool') read = message.results.map(({ output }) => output).join();
        return message?.role === 'tool' ? 'done' : { calls: [['read_file', { path: 'notes.md' }]] };
      },
    });
    const models = { ...own.models, override: 'own/m' };
    const result = await run(await open(), { cwd, models, ...options }).result;
    return { outcome: result.outcome, phases, read };
  };

  it.each<[string, () => RunOptions]>([
    ['without a store', () => ({})],
    ['with a store', () => ({ store: memoryStore() })],
    ['in a thread', () => ({ store: memoryStore(), thread: 'desk' })],
  ])('has each call looked at, and one that is refused is not made: %s', async (_, options) => {
    const { plan } = await open();
    const given: Record<string, unknown> = { prompt: '["x"]', message: 'Read.' };
    const inputs = Object.fromEntries(
      (plan?.inputs ?? []).flatMap(({ name }) => (name in given ? [[name, given[name]]] : [])),
    );
    const { outcome, phases, read } = await play({ inputs, ...options() });
    expect([outcome, phases]).toEqual(['succeeded', ['screen', 'review']]);
    expect(read).toMatch(/^Error: this call was refused by a security check/);
  });
});
