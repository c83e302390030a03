import { describe, expect, it } from 'vitest';
import { run, toDot, toMermaid } from 'skein';
import { agent as agentOf, agentNode, graph, tool as namedTool, toolNode } from 'skein/graph';
import { boxesOf, paintSvg } from '../../src/draw.js';
import { foreseenQuestions, ruleOfTwo } from '../../src/guard/foresee.js';
import { drawingOf } from '../../src/plan/drawing.js';
import { heardIn } from '../../src/plan/heard.js';
import type { Plan } from '../../src/plan/plan.js';
import { loadWorkflowText } from '../../src/yaml.js';

const ANYTHING = { type: 'object' } as const;

async function planOf(text: string): Promise<Plan> {
  const { plan, problems } = await loadWorkflowText(text, { cwd: '/tmp' });
  return plan ?? expect.unreachable(JSON.stringify(problems));
}

const dag = (tools: string, more = '', server = ''): string => `name: d
${more}
agents:
  reader: { inline: { prompt: You read., tools: [fetch] } }
  worker: { inline: { prompt: You work., tools: ${tools}${server} } }
steps:
  - { id: read, agent: reader, prompt: Read. }
  - { id: work, agent: worker, prompt: 'It says {{steps.read.output}}', depends_on: [read] }
  - { id: other, agent: worker, prompt: Work. }
`;
const KIT = ', mcp-servers: { kit: { command: kit } }';

describe('who may influence a step, before a run', () => {
  it('goes with what is read, through conditions, maps, loops and calls, and ends where it is endorsed', async () => {
    const text = `agents:
  web: { instruction: You read., toolsets: [{ type: fetch }] }
  w: { instruction: You sort., toolsets: [] }
workflow:
  - { id: before, type: agent, name: w }
  - { id: page, type: agent, name: web }
  - { id: sort, type: agent, name: w, schema: { kind: { enum: [bug] } }, endorse: schema }
  - { id: each, type: map, over: '{{ $steps.page.output }}', steps: [{ id: one, type: agent, name: w }] }
`;
    const heard = heardIn(await planOf(text));
    const levels = Object.fromEntries([...heard].map(([path, { does, gives }]) => [path, [does.level, gives.level]]));
    expect(levels).toMatchObject({
      before: ['trusted', 'trusted'],
      page: ['untrusted', 'untrusted'],
      sort: ['untrusted', 'vetted'],
      'each/one': ['untrusted', 'untrusted'],
    });
  });

  it('is untrusted behind a step that runs a command, whose own call is foreseen where others influence it', async () => {
    const plan = await planOf(`name: d
agents: { w: { inline: { prompt: You read., tools: [fetch] } } }
steps:
  - { id: page, agent: w, prompt: Read. }
  - { id: test, run: [npm, test, '{{steps.page.output}}'], depends_on: [page] }
  - { id: alone, run: [npm, test] }
`);
    const levels = [...heardIn(plan)].map(([path, { gives }]) => [path, gives.level]);
    expect(levels).toEqual(['page', 'test', 'alone'].map((id) => [id, 'untrusted']));
    expect(foreseenQuestions(plan).calls.map(({ step, tool }) => `${step} ${tool}`)).toContain('test shell');
  });

  it('decides about the call of a step: none is foreseen where all of it is written, or where the user gave what is put in', async () => {
    const plan = await planOf(`name: d
inputs: { path: {} }
agents: { w: { inline: { prompt: You read., tools: [fetch] } } }
steps:
  - { id: page, agent: w, prompt: Read. }
  - { id: given, run: [npm, test, '{{inputs.path}}'] }
  - { id: written, run: [npm, test], depends_on: [page], condition: { step: page, contains: ok } }
  - { id: inside, run: [npm, test, '{{steps.page.output}}'], sandbox: offline, depends_on: [page] }
  - { id: outside, run: [npm, test, '{{steps.page.output}}'], depends_on: [page] }
finally:
  - { id: tidy, run: [rm, -rf, out] }
  - { id: tell, run: [say, '{{run.outcome}}'], depends_on: [tidy] }
`);
    const ofSteps = foreseenQuestions(plan).calls.filter(({ agent }) => agent === undefined);
    const foreseen = ofSteps.map(({ step, which, declare }) => [step, which, declare]);
    expect(foreseen).toEqual([
      ['outside', 'outside of a sandbox', 'sandbox: offline'],
      ['finally/tell', 'outside of a sandbox', 'sandbox: offline'],
    ]);
    expect(ruleOfTwo(plan).map(({ message }) => message.split(' reads')[0])).toEqual([
      'the step "outside"',
      'the step "finally/tell"',
    ]);
  });

  it('says at least what the labels of a run say', async () => {
    const flow = graph<{ issue: string }>()
      .node('a', ({ issue }) => issue)
      .node('b', ({ a }) => a, { when: ({ a }) => a !== '' })
      .compile();
    const { labels } = await run(flow, { inputs: { issue: 'x' } }).result;
    expect(labels).toBeUndefined();
    expect([...heardIn(flow.plan).values()].map(({ does }) => does.level)).toEqual(['trusted', 'trusted']);
  });

  it('colours the path of drawings in every language', async () => {
    const plan = await planOf(dag('[read_file]'));
    const mermaid = toMermaid(plan);
    expect(mermaid).toContain('style n0 stroke:orangered');
    expect(mermaid).toContain('style n1 stroke:orangered');
    expect(mermaid).not.toContain('style n2 stroke');
    expect(mermaid).toContain('linkStyle 0 stroke:orangered');
    expect(toDot(plan)).toMatch(/n0 -> n1 \[color=orangered\]/);
    expect(toDot(plan).match(/color=orangered/g)).toHaveLength(3);
    expect(paintSvg(drawingOf(plan)).match(/class="[^"]* untrusted"/g)).toHaveLength(3);
    expect(toMermaid(await planOf(dag('[read_file]').replace('[fetch]', '[]')))).not.toContain('orangered');
  });

  it('marks it in boxes, too, in colour where there are colours', async () => {
    const drawing = drawingOf(await planOf(dag('[read_file]')));
    const plain = boxesOf(drawing, { unicode: true }).split('\n');
    expect(plain.filter((line) => line.includes('┌─!─')).map((line) => line.split('┌─!─').length - 1)).toEqual([1, 1]);
    expect(plain.at(-1)).toBe('! untrusted text may influence it');
    const coloured = boxesOf(drawing, { unicode: true, columns: 200, warn: (text) => `<${text}>` });
    expect(coloured.replaceAll(/[<>]/g, '').split('\n')).toEqual(plain);
    // Borders, the way from the one box to the other with its tip, and the line that says what it means.
    expect(coloured).toMatch(/<┌─!─+┐>/);
    expect(coloured).toContain('<▼>');
    expect(coloured).not.toMatch(/<[^>]*(?:read|other|work)/);
    expect(boxesOf(drawingOf(await planOf(dag('[]').replace('[fetch]', '[]'))), { unicode: true })).not.toContain('!');
  });

  it('colours the states of a pack that hear others, and the ways on from them', async () => {
    const prompt = (id: string, more = {}) => ({ id, name: id, version: '1.0.0', system_template: 'Work.', ...more });
    const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
    const pack = (tools: readonly string[]) => ({
      id: 'p',
      name: 'p',
      version: '1.0.0',
      template_engine: { version: 'v1', syntax: '{{variable}}' },
      prompts: { first: prompt('first'), 'look-up': prompt('look-up', { tools }), last: prompt('last') },
      tools: { look },
      workflow: {
        version: 1,
        entry: 'first',
        states: {
          first: { prompt_task: 'first', on_event: { Go: 'look up' } },
          'look up': { prompt_task: 'look-up', on_event: { Done: 'last' } },
          last: { prompt_task: 'last' },
        },
      },
    });
    const drawn = async (tools: readonly string[]) => {
      const loaded = await loadWorkflowText(JSON.stringify(pack(tools)), { cwd: '/tmp', file: 'p.pack.json' });
      return loaded.drawing ?? expect.unreachable(JSON.stringify(loaded.problems));
    };
    const { items, edges } = await drawn(['look']);
    expect(items.map(({ lines, untrusted }) => [lines[0], untrusted])).toEqual([
      ['first', undefined],
      ['look up', true],
      ['last', true],
    ]);
    expect(edges.map(({ label, untrusted }) => [label, untrusted])).toEqual([
      ['Go', undefined],
      ['Done', true],
    ]);
    expect((await drawn([])).items.filter(({ untrusted }) => untrusted)).toEqual([]);
  });
});

describe('the questions of a run, before it', () => {
  it('are numbered where they are certain', async () => {
    const text = `agents: { w: { instruction: You work., toolsets: [] } }
workflow:
  - { id: do, type: agent, name: w }
  - { id: approve, type: ask, question: Is it good? }
`;
    expect(foreseenQuestions(await planOf(text))).toEqual({
      steps: [{ step: 'approve', what: 'asks' }],
      calls: [],
      count: 1,
    });
    expect(foreseenQuestions(await planOf(dag('[]').replace('[fetch]', '[]')))).toEqual({
      steps: [],
      calls: [],
      count: 0,
    });
  });

  it('count a tool that is a node of a graph, where others may influence its call', () => {
    const page = namedTool({ name: 'page', inputSchema: ANYTHING, effect: 'read', execute: () => 'a page' });
    const send = namedTool({ name: 'send', inputSchema: ANYTHING, execute: () => 'sent' });
    const look = agentOf({ name: 'reader', model: 'own/reader', tools: [page] });
    const calls = (flow: { readonly plan: Plan }): readonly unknown[] =>
      foreseenQuestions(flow.plan).calls.map(({ step, tool: name, which }) => [step, name, which]);
    const alone = graph<{ task: string }>().node('mail', toolNode(send)).setEntry('mail').compile();
    expect(calls(alone)).toEqual([]);
    const both = graph<{ task: string }>()
      .node('read', agentNode(look, { taskParam: 'task' }))
      .node('again', toolNode(page))
      .node('mail', toolNode(send))
      .addEdge('read', 'again')
      .addEdge('again', 'mail')
      .setEntry('read')
      .compile();
    expect(calls(both)).toEqual([['mail', 'send', 'all']]);
  });

  it('are named by their calls where models decide, with what would declare them', async () => {
    const { count, calls } = foreseenQuestions(await planOf(dag('[shell, write_file]', '', KIT)));
    expect(count).toBeUndefined();
    expect(calls.filter(({ step }) => step === 'work').map(({ tool, which }) => `${tool} ${which}`)).toEqual([
      'write_file that change files or make others than texts',
      'shell that are not declared',
    ]);
    const server = foreseenQuestions(await planOf(dag("['kit/post', 'kit/*']", '', KIT))).calls;
    expect(server.map(({ step, tool }) => `${step} ${tool}`)).toContain('work kit/*');
    // An agent whose tools show nothing of others, and who hears nothing of them, asks nothing.
    expect(foreseenQuestions(await planOf(dag('[write_file]'))).calls.map(({ step }) => step)).not.toContain('other');
  });
});

describe('the rule of two', () => {
  const of = async (text: string, around?: Parameters<typeof ruleOfTwo>[1]) =>
    ruleOfTwo(await planOf(text), around).map(({ code, severity, message, hint, at }) => ({
      code,
      severity,
      message,
      hint,
      line: at?.line,
    }));

  it('warns of an agent that hears others, sees what is private and acts outside; and names calls and declarations', async () => {
    const found = await of(dag("['kit/post']", '', KIT));
    expect(found).toEqual([
      {
        code: 'rule-of-two',
        severity: 'warning',
        message:
          'the agent "worker" reads untrusted text, sees private data, and acts outside: a person is asked about calls of kit/post (that do more than read)',
        hint: 'declare those that you want: sends: [{ tool: kit/post, fixed: { NAME: VALUE }, free: [NAME] }]',
        line: 8,
      },
      expect.objectContaining({ line: 9 }),
    ]);
  });

  it.each([
    ['what is declared', "['kit/post']", 'sends: [{ tool: kit/post, free: [body] }]', KIT],
    ['who only reads the project', '[read_file]', '', ''],
    ['who sees nothing private', '[fetch, write_file]', '', ''],
  ])('is silent about %s', async (_, tools, more, server) => {
    const found = await of(dag(tools, more, server).replace('It says {{steps.read.output}}', 'Work.'));
    expect(found).toEqual([]);
  });

  it('is an error where paranoid holds, for the file and for a run', async () => {
    const text = dag("['kit/post']", '', KIT);
    expect((await of(text, { mode: 'paranoid' })).map(({ severity }) => severity)).toEqual(['error', 'error']);
    const ofFile = await of(text.replace('name: d\n', 'name: d\nsecurity: paranoid\n'));
    expect(ofFile.map(({ severity }) => severity)).toEqual(['error', 'error']);
    const plan = await planOf(text);
    const options = { security: 'paranoid', models: { env: {}, noProbe: true, override: 'mock/echo' } } as const;
    expect(() => run({ plan }, options)).toThrow('reads untrusted text');
  });
});
