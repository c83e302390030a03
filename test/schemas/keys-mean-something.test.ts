import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../src/base/json.js';
import { isPlainObject } from '../../src/base/json.js';
import { loadWorkflowText, yamlSchema } from '../../src/yaml.js';
import { dataOf } from './judging.js';
import { WHOLE_FILES } from './whole-files.js';

/** What the files with every key name. */
const BESIDE: Readonly<Record<string, string>> = {
  'agents/reader.md': '---\nname: reader\n---\nYou read.\n',
  'style.md': 'Be brief.\n',
  'other.yaml':
    'name: other\ninputs: { a: {}, prompt: {} }\nagents: { w: { inline: { prompt: x } } }\nsteps: [{ id: s, agent: w, prompt: "{{inputs.a}}{{inputs.prompt}}" }]\n',
};

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'skein-keys-'));
  for (const [path, text] of Object.entries(BESIDE)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** The keys that tables have, by the JSON Schema that is made of them; those of JSON Schemas in files are not keys of ours. */
function keysOfSchema(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOfSchema);
  if (!isPlainObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'json-schema' || key === 'short-schema') return [];
    if (key !== 'properties' || !isPlainObject(value)) return keysOfSchema(value);
    const own = Object.entries(value).filter(([, row]) => !isPlainObject(row) || row['doNotSuggest'] !== true);
    return own.flatMap(([name, row]) => [name, ...(name === 'schema' ? [] : keysOfSchema(row))]);
  });
}

/** Keys of the whole files that say what would hold without them, or what another key takes the place of. */
const IDLE_IN_DAG = [
  'agents.writer.inline.mcp-servers.tickets.type',
  'agents.writer.inline.mcp-servers.far.type',
  'agents.writer.inline.mcp-servers.gone',
  'agents.writer.inline.mcp-servers.gone.command',
];
const IDLE_IN_PIPELINE = [
  'version',
  'providers.home.api_type',
  'providers.home.token_key',
  'mcps.tickets.type',
  'mcps.tickets.name',
  'mcps.far',
  'mcps.far.remote.transport_type',
  'mcps.far.remote.headers',
  'mcps.far.remote.headers.X',
  'agents.root.toolsets.1.tools',
  'agents.root.toolsets.7.tools',
  'agents.root.structured_output.strict',
  'workflow.max_loop_iterations',
  'workflow.steps.1.name',
  'workflow.steps.4.workflow.max_loop_iterations',
  'workflow.steps.5.as',
  'workflow.steps.7.on_expire',
  'workflow.steps.10.false.0.type',
];

type Path = readonly (string | number)[];

function pathsIn(value: Json, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: Json, i) => pathsIn(item, [...at, i]));
  return Object.entries(value).flatMap(([key, inner]: [string, Json]) => [
    [...at, key],
    ...pathsIn(inner, [...at, key]),
  ]);
}

function without(value: Json, [key, ...rest]: Path): Json {
  if (typeof value !== 'object' || value === null || key === undefined) return value;
  if (Array.isArray(value)) return value.map((item: Json, i) => (i === key ? without(item, rest) : item));
  const entries = Object.entries<Json>(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(entries.map(([name, inner]) => [name, name === key ? without(inner, rest) : inner]));
}

/** What a file comes to, wherever its parts stand. */
async function meaningOf(data: Json): Promise<string> {
  const { plan, settings, agentFolders, problems } = await loadWorkflowText(JSON.stringify(data), { cwd });
  const told = problems.map(({ severity, code, message }) => `${severity} ${code} ${message}`);
  return JSON.stringify({ plan, settings, agentFolders, told }, (key, value: unknown) =>
    key === 'at' ? undefined : value,
  );
}

describe.each([
  ['dag', ['initial_file'], IDLE_IN_DAG],
  ['pipeline', [], IDLE_IN_PIPELINE],
] as const)('%s', (kind, absent, idle) => {
  const sample = WHOLE_FILES.find(({ name }) => name === kind);
  const data = sample === undefined ? undefined : dataOf(sample);

  test('every key of its tables stands in the file with every key', async () => {
    const there = new Set(pathsIn(data ?? null).map((path) => path.at(-1)));
    const missing = keysOfSchema(await yamlSchema(kind)).filter((key) => !there.has(key));
    expect([...new Set(missing)]).toEqual(absent);
  });

  test('without any of its keys a workflow is another one', async () => {
    const whole = await meaningOf(data ?? null);
    const same: string[] = [];
    for (const path of pathsIn(data ?? null)) {
      if ((await meaningOf(without(data ?? null, path))) === whole) same.push(path.join('.'));
    }
    expect(same).toEqual(idle);
  });
});
