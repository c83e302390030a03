import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { CORPUS, hasCorpus } from '../notations/corpus.js';
import { packData, packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';
import type { Ended } from './support/skein.js';

const PROMPTS = { intake: 'Ask {{name}}.', expert: 'Help.', bye: 'Say goodbye.' };
const STATES = {
  intake: {
    prompt_task: 'intake',
    on_event: { Billing: 'expert', Technical: 'expert', Close: 'end' },
    max_visits: 2,
    on_max_visits: 'end',
  },
  expert: { prompt_task: 'expert', orchestration: 'external', persistence: 'transient', on_event: { Back: 'intake' } },
  end: { prompt_task: 'bye', terminal: true },
};
const PACK = packText({ ...PROMPTS, intake: { system_template: 'Ask.' } }, STATES);

const FLOW = 'name: a\nagents: { w: { inline: { prompt: You write. } } }\nsteps: [{ id: a, agent: w, prompt: hi }]\n';

/** What a command says of a pack, which is the file `desk.pack.json`. */
async function of(command: readonly string[], text: string, file = 'desk.pack.json'): Promise<Ended> {
  const cwd = await makeProject({ [file]: text });
  return await served([...command, file], { cwd });
}

describe('skein validate of a pack', () => {
  it('[issue 7] a pack is known by its keys, in JSON and in YAML, with and without a workflow', async () => {
    for (const [file, text] of [
      ['desk.pack.json', PACK],
      ['desk.json', packText({ chat: 'Talk.' })],
      ['desk.yaml', stringify(packData({ chat: 'Talk.' }, { only: { prompt_task: 'chat', terminal: true } }))],
    ] as const) {
      const { code, stdout } = await of(['validate'], text, file);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${file} is valid\n` });
    }
  });

  it.each([
    ['a misspelt key', PACK.replace('"persistence"', '"persistense"'), 'persistense', 'did you mean "persistence"?'],
    ['a key that is there twice', PACK.replace('"id": "desk"', '"id": "desk",\n  "id": "desk"'), 'duplicate-key', ''],
    ['a comma too many', PACK.replace('"id": "desk",', '"id": "desk",,'), 'json-syntax', ''],
    [
      'an event that leads nowhere',
      PACK.replace('"Close": "end"', '"Close": "edn"'),
      'target "edn" does not exist in states',
      'did you mean "end"?',
    ],
    [
      'a tool with a reserved name',
      packText({ chat: 'Talk.' }, undefined, { tools: { workflow__x: { name: 'workflow__x', description: 'x' } } }),
      'the name "workflow__x" is reserved',
      '',
    ],
    [
      'an unknown validator',
      packText({ chat: { validators: [{ type: 'max_lenght', enabled: true }] } }),
      'no one implements the validator "max_lenght"',
      'did you mean "max_length"?',
    ],
    [
      'a fragment that contains itself',
      packText({ chat: '{{a}}' }, undefined, { fragments: { a: '{{fragments.a}}' } }),
      'fragments["a"] contains itself',
      '',
    ],
    [
      'a default of the wrong type',
      packText({ chat: { variables: [{ name: 'n', type: 'number', required: false, default: 'x' }] } }),
      'its default must be number, not string',
      '',
    ],
  ])('[bad input] %s has its place and a hint', async (_, text, said, hint) => {
    const { code, stderr, stdout } = await of(['validate'], text);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^desk\.pack\.json:\d+:\d+: error /m);
    expect(stderr).toContain(said);
    expect(stderr).toContain(hint);
  });

  it.each(['Arena', 'PromptConfig'])('[A15] a file of kind %s is no pack: how to compile it', async (kind) => {
    const text = stringify({
      apiVersion: 'promptkit.altairalabs.ai/v1alpha1',
      kind,
      metadata: { name: 'x' },
      spec: {},
    });
    for (const command of ['validate', 'run', 'graph', 'plan']) {
      const { code, stderr } = await of([command], text, 'config.arena.yaml');
      expect(code).toBe(2);
      expect(stderr).toContain(`a file of kind ${kind} is not a pack`);
      expect(stderr).toContain('packc compile');
    }
  });

  it.each([
    ['{}', 'missing-key'],
    ['', 'json-syntax'],
    ['[1]', 'wrong-form'],
  ])('[bad input] a file with the name of a pack is read as one: %j', async (text, code) => {
    const end = await of(['validate'], text, 'a.pack.json');
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(`error ${code}`);
    expect(end.stderr).not.toContain('steps');
  });

  it('[A11] --schema judges by one version; a $schema with which the pack disagrees is a warning', async () => {
    const lax = packText({ chat: 'Talk.' }, { only: { prompt_task: 'chat' } });
    expect((await of(['validate'], lax)).code).toBe(0);
    const strict = await of(['validate', '--schema', '1.5'], lax);
    expect(strict.code).toBe(2);
    expect(strict.stderr).toContain('schema 1.5 wants it unless terminal is true');
    expect((await of(['validate', '--schema', '1.4'], lax)).code).toBe(0);
    const named = packText({ chat: 'Talk.' }, undefined, {
      $schema: 'https://promptpack.org/schema/v1.4.0/promptpack.schema.json',
      compositions: {},
    });
    expect((await of(['validate'], named)).stderr).toContain('warning schema-mismatch: $schema names version 1.4');
    const other = await of(['validate', '--schema', '1.6'], lax);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('1.4, 1.5') as string });
    const dag = await of(['validate', '--schema', '1.5'], FLOW, 'flow.yaml');
    expect(dag).toMatchObject({ code: 1, stderr: expect.stringContaining('--schema is for packs') as string });
  });

  it('[issue 6] --tools knows the functions and validators of a program; without it, it says what it does not know', async () => {
    const say = (prompt: string) => ({
      id: 'a',
      kind: 'agent',
      prompt_task: prompt,
      tools: ['file'],
      termination: { max_steps: 1 },
    });
    const tools = ['find', 'file'].map((name) => [
      name,
      { name, description: name, parameters: { type: 'object', properties: {} } },
    ]);
    const pack = packText(
      { chat: { tools: ['find'], validators: [{ type: 'polite', enabled: true, params: {} }] }, sort: 'Sort.' },
      {
        talk: { prompt_task: 'chat', on_event: { Go: 'sorting' } },
        sorting: { orchestration: 'composition', composition: 'c', terminal: true },
      },
      { tools: Object.fromEntries(tools) as object, compositions: { c: { version: 1, steps: [say('sort')] } } },
    );
    const cwd = await makeProject({
      'a.pack.json': pack,
      'plain.pack.json': pack.replace('"polite"', '"json_valid"'),
      'all.mjs':
        'export const tools = { find: () => 1, file: () => 2 };\nexport const validators = { polite: () => true };\n',
      'some.mjs': 'export const find = () => 1;\nexport const approve = { fnd: true };\n',
      'servers.mjs': "export const mcpServers = { kit: { command: 'none' } };\n",
    });
    const judged = (...words: string[]) => served(['validate', ...words], { cwd });
    const alone = await judged('a.pack.json');
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--tools MODULE') as string });
    expect(alone.stderr).toContain('no one implements the validator "polite"');
    expect(await judged('a.pack.json', '--tools', 'all.mjs')).toMatchObject({
      code: 0,
      stdout: 'a.pack.json is valid\n',
    });
    expect(await judged('plain.pack.json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not checked: who carries out find, file') as string,
    });
    const some = await judged('plain.pack.json', '--tools', 'some.mjs');
    expect(some.code).toBe(2);
    expect(some.stderr).toContain('the tool "file" of the composition "c" has no function');
    expect(some.stderr).toContain('approve names "fnd", which is not a tool of the pack');
    expect(some.stderr).not.toContain('the tool "find"');
    const servers = await judged('plain.pack.json', '--tools', 'servers.mjs', '--json');
    expect(JSON.parse(servers.stdout)).toMatchObject({ valid: true, files: [{ unchecked: ['find', 'file'] }] });
    expect(await served(['validate', 'plain.pack.json', '--tools', 'gone.mjs'], { cwd })).toMatchObject({ code: 2 });
  });

  it('[A10] --verbose tells what is kept and has no effect; evals are named once', async () => {
    const evals = [{ id: 'e', type: 'contains', trigger: 'every_turn' }];
    const media = { enabled: true };
    const text = packText({ chat: { evals, media }, other: { evals } }, undefined, {
      evals,
      metadata: { domain: 'support' },
    });
    const { stdout, stderr } = await of(['validate', '--verbose'], text);
    expect(stderr.match(/evals are kept and not run/g)).toHaveLength(1);
    expect(stdout.split('\n').slice(1, -1)).toEqual(
      [
        'metadata',
        'template_engine',
        'evals',
        'prompts["chat"].evals',
        'prompts["chat"].media',
        'prompts["other"].evals',
      ].map((part) => `  kept, without effect: ${part}`),
    );
    expect((await of(['validate'], text)).stdout).not.toContain('kept');
    const { stdout: json } = await of(['validate', '--verbose', '--json'], text);
    expect(JSON.parse(json)).toMatchObject({ files: [{ kept: expect.arrayContaining(['metadata']) as unknown }] });
  });
});

describe('skein graph and plan of a pack', () => {
  it('[issue 7] events are labels, redirects dashed, terminal states marked, in every form', async () => {
    const mermaid = await of(['graph', '--format', 'mermaid'], PACK);
    expect(mermaid.stdout.split('\n')).toEqual([
      'flowchart TD',
      '  s0("intake<br/>(at most 2 visits)")',
      '  style s0 stroke-width:3px',
      '  s1("expert<br/>(external, transient)")',
      '  s2("end<br/>bye<br/>(terminal)")',
      '  style s2 stroke-dasharray:6 2',
      '  s0 -->|"Billing, Technical"| s1',
      '  s0 -->|"Close"| s2',
      '  s0 -.->|"after 2 visits"| s2',
      '  s1 -->|"Back"| s0',
      '',
    ]);
    const dot = await of(['graph', '--format', 'dot'], PACK);
    expect(dot.stdout).toContain('s0 -> s2 [label="after 2 visits", style=dashed];');
    const svg = await of(['graph', '--format', 'svg'], PACK);
    expect(svg.stdout.match(/class="edge sometimes"/g)).toHaveLength(1);
    const boxes = await of(['graph'], PACK);
    for (const text of ['Billing, Technical', '(terminal)', '(external, transient)'])
      expect(boxes.stdout).toContain(text);
  });

  it('[A8] states with any name are drawn', async () => {
    const states = {
      END: { prompt_task: 'chat', on_event: { Go: 'a/b' } },
      'a/b': { prompt_task: 'chat', on_event: { On: '__proto__' } },
    };
    const text = packText({ chat: 'Talk.' }, states).replace(
      '"a/b": {\n',
      '"__proto__": { "prompt_task": "chat", "terminal": true },\n      "a/b": {\n',
    );
    const { code, stdout } = await of(['graph', '--format', 'dot'], text);
    expect(code).toBe(0);
    for (const name of ['"END', '"a/b', '"__proto__']) expect(stdout).toContain(`label=${name}`);
  });

  it('the prompts of a pack without a workflow are drawn', async () => {
    const { stdout } = await of(['graph', '--format', 'mermaid'], packText({ chat: 'Talk.', other: 'Listen.' }));
    expect(stdout).toBe('flowchart TD\n  p0("chat")\n  p1("other")\n');
  });

  it('[issue 7] plan shows the prompt of each state with its placeholders, and its tools', async () => {
    const tools = { find: { name: 'find', description: 'finds' } };
    const variables = [{ name: 'name', type: 'string', required: true }];
    const prompts = {
      ...PROMPTS,
      intake: { system_template: 'Ask {{name}} about {{artifacts.order}}.', variables, tools: ['find'] },
    };
    const { code, stdout } = await of(['plan'], packText(prompts, STATES, { tools }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/agent intake; model of the environment; tools find/);
    expect(stdout).toMatch(/│ Ask \{\{name\}\} about \{\{artifacts\.order\}\}\./);
    expect(stdout).toContain('Say goodbye.');
    expect(stdout).toContain('input name: required, not given');
    expect(stdout).not.toContain('input message');
    const given = await of(['plan', '--input', 'name=Ada'], packText(prompts, STATES, { tools }));
    expect(given.stdout).toMatch(/input name: given[\s\S]*│ Ask Ada about/);
  });

  it('plan counts calls by the visits that the budget of a pack allows', async () => {
    const budget = '"version": 2, "engine": { "budget": { "max_total_visits": 4 } },';
    const { stdout } = await of(['plan', '--json'], packText(PROMPTS, STATES).replace('"version": 2,', budget));
    const { modelCalls } = JSON.parse(stdout) as { modelCalls: { worst: number } };
    expect(modelCalls.worst).toBeLessThan(5_000);
  });
});

describe.skipIf(!hasCorpus())('the packs of the corpus', () => {
  // The body of a skipped suite is run, too.
  const folders = hasCorpus() ? ['valid', 'documents', 'semantic-reject'] : [];
  const packs = folders.flatMap((folder) =>
    readdirSync(join(CORPUS, 'packs', folder)).map((file) => `packs/${folder}/${file}`),
  );
  // The names of its tools break both versions of the schema.
  const isTaken = (file: string): boolean => !file.includes('semantic-reject') && !file.includes('data-explorer');

  it.each(packs)('[issue] %s is taken or refused as its folder says', async (file) => {
    const { code, stderr } = await served(['validate', file], { cwd: CORPUS });
    expect(code, stderr).toBe(isTaken(file) ? 0 : 2);
    const drawn = await served(['graph', file, '--format', 'svg'], { cwd: CORPUS });
    expect(drawn.code).toBe(code);
  });

  it.each(packs.filter(isTaken))('[issue] %s opens, and its prompts are rendered', async (file) => {
    const pack = JSON.parse(readFileSync(join(CORPUS, file), 'utf8')) as {
      prompts: Record<string, { variables?: readonly { name: string; required: boolean }[] }>;
      workflow?: unknown;
    };
    const variables = Object.values(pack.prompts).flatMap((prompt) => prompt.variables ?? []);
    // The first is refused without them, with their names: two of them stand in no list of variables.
    const loose = file.includes('variables--assistant') ? ['current_month', 'current_year'] : [];
    const names = new Set([...variables.filter(({ required }) => required).map(({ name }) => name), ...loose]);
    const inputs = [...names].flatMap((name) => ['--input', `${name}=x`]);
    const said = [join(CORPUS, file), '--mock', '--no-store', '--message', 'Hello', '--verbose'];
    const { code, stdout, stderr } = await served(['run', ...said, ...inputs], { cwd: await makeProject() });
    expect(stderr).not.toMatch(/^error/m);
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'Hello\n' });
    const lacking = await served(['run', ...said], { cwd: await makeProject() });
    expect(lacking.code).toBe(names.size === 0 ? 5 : 2);
    for (const name of names) expect(lacking.stderr).toContain(name);
  });
});
