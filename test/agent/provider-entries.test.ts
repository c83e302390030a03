import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createModelRegistry, describeProviders } from '../../src/agent/index.js';
import { loadDagText } from 'skein/yaml';
import {
  FOREIGN_PROVIDERS,
  LOCAL_MODELS,
  PROVIDERS,
  PROVIDER_NAMES,
  installCommand,
} from '../../src/plan/providers.js';

/** What is true of all providers, also of those that come. What fails here names what was forgotten. */

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const { dependencies, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
const TABLE = read('docs/models.md').split('## Providers')[1]?.split('##')[0] ?? '';

describe.each(PROVIDERS)('the provider $id', (provider) => {
  const { id, keyEnv, baseUrlEnv } = provider;

  it('is in the table of docs/models.md, with its variables', () => {
    const row = TABLE.split('\n').find((line) => line.split('|')[1]?.includes(`\`${id}\``)) ?? '';
    const comesWith = dependencies?.[provider.package] !== undefined;
    const wanted = [id, keyEnv, baseUrlEnv, comesWith ? undefined : installCommand(provider)];
    expect(wanted.filter((text) => text !== undefined && !row.includes(`\`${text}\``))).toEqual([]);
  });

  it('has a package in package.json, of its major version', () => {
    const range = dependencies?.[provider.package] ?? peerDependencies?.[provider.package];
    expect(range, `package.json needs ${provider.package}`).toMatch(new RegExp(`^\\^?${provider.major}\\.`));
  });

  it('is told by skein doctor, and gives a model', async () => {
    const env = { ...(keyEnv === undefined ? {} : { [keyEnv]: 'k' }), SKEIN_NO_PROBE: '1' };
    const url = { [baseUrlEnv ?? 'NONE']: 'http://127.0.0.1:1' };
    const reports = await describeProviders({ ...env, ...url });
    expect(reports.map((report) => report.id)).toContain(id);
    const models = createModelRegistry({ env: { ...env, ...url } });
    const [model] = await models.resolve(
      { name: 'a', instructions: [], models: [`${id}/some-model`] },
      { path: 'a', agent: 'a' },
    );
    expect(model?.id).toBe(`${id}/some-model`);
  });

  it('may be named by a workflow file', async () => {
    const yaml = `name: w
agents: { a: { inline: { prompt: p } } }
steps: [{ id: s, agent: a, prompt: q }]
config: { provider: { type: ${id} } }
`;
    expect((await loadDagText(yaml, { cwd: ROOT })).problems).toEqual([]);
  });
});

it('names of providers are told apart', () => {
  const names = [...PROVIDER_NAMES, ...LOCAL_MODELS, ...FOREIGN_PROVIDERS];
  expect(new Set(names).size).toBe(names.length);
});
