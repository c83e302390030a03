import { describe, expect, test } from 'vitest';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** One agent step whose model a file places at an address, in each notation that can. */
const NOTATIONS = [
  {
    notation: 'dag',
    flow: (url: string, key?: string) => `name: t
config: { model: m, provider: { type: openai, base_url: "${url}"${key === undefined ? '' : `, api_key_env: ${key}`} } }
agents: { a: { inline: { prompt: You answer., tools: [] } } }
steps: [{ id: s, agent: a, prompt: hello }]
`,
  },
  {
    notation: 'pipeline, models',
    flow: (url: string, key?: string) => `models:
  m: { provider: openai, model: m, base_url: "${url}"${key === undefined ? '' : `, token_key: ${key}`} }
agents: { root: { model: m, instruction: You answer. } }
workflow: [{ type: agent, name: root }]
`,
  },
  {
    notation: 'pipeline, providers',
    flow: (url: string, key?: string) => `providers:
  p: { provider: openai, base_url: "${url}"${key === undefined ? '' : `, token_key: ${key}`} }
agents: { root: { model: p/m, instruction: You answer. } }
workflow: [{ type: agent, name: root }]
`,
  },
];

const KEYS = { OPENAI_API_KEY: 'openai-secret', TEAM_KEY: 'team-secret', ANTHROPIC_API_KEY: 'anthropic-secret' };
const run = async (flow: string, env: Readonly<Record<string, string>>) =>
  served(['run', 'flow.yaml', '--no-store'], { cwd: await makeProject({ 'flow.yaml': flow }), env });

describe.each(NOTATIONS)('an address that only a file names ($notation)', ({ flow }) => {
  test.each(['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'TEAM_KEY', 'PATH'])(
    '[XS2] is not sent %s, and the error says how to allow it',
    async (key) => {
      await using provider = await FakeProvider.start({ text: 'Done.' });
      const end = await run(flow(provider.baseUrl, key), KEYS);
      expect(end.code).toBe(2);
      expect(end.stderr).toContain(`SKEIN_NO_KEY: `);
      expect(end.stderr).toContain(
        `${key} is not sent to ${provider.origin}: only the workflow file names that address`,
      );
      expect(end.stderr).toMatch(/set [A-Z_]+_BASE_URL=http:\/\/127\.0\.0\.1:\d+ in the environment/);
      expect(provider.requests).toEqual([]);
    },
  );

  test('[XS2] is called without the key of its provider when the file names none', async () => {
    await using provider = await FakeProvider.start({ text: 'Done.' });
    const end = await run(flow(provider.baseUrl), KEYS);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('Done.');
    expect(JSON.stringify(provider.requests)).not.toContain('secret');
  });

  test('[XS2] that wants a key: the refusal says that none was sent, and why', async () => {
    await using provider = await FakeProvider.start({ status: 401 });
    const end = await run(flow(provider.baseUrl), KEYS);
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('OPENAI_API_KEY was not sent, because only the workflow file names the address');
    expect(end.stderr).toContain(`set OPENAI_BASE_URL=${provider.origin} in the environment`);
    expect(JSON.stringify(provider.requests)).not.toContain('secret');
  });

  test.each([
    ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'Bearer openai-secret'],
    [undefined, 'OPENAI_BASE_URL', 'Bearer openai-secret'],
    ['TEAM_KEY', 'TEAM_BASE_URL', 'Bearer team-secret'],
    ['TEAM_KEY', 'OPENAI_BASE_URL', 'Bearer team-secret'],
  ])('[XS2] is sent %s once the environment names it in %s', async (key, variable, sent) => {
    await using provider = await FakeProvider.start({ text: 'Done.' });
    const end = await run(flow(provider.baseUrl, key), { ...KEYS, [variable]: provider.baseUrl });
    expect(end).toMatchObject({ code: 0 });
    expect(provider.requests.map((request) => request.headers.authorization)).toEqual([sent]);
  });

  test('[XS2] is not sent the key of another provider, whatever the environment says of this one', async () => {
    await using provider = await FakeProvider.start({ text: 'Done.' });
    const end = await run(flow(provider.baseUrl, 'ANTHROPIC_API_KEY'), { ...KEYS, OPENAI_BASE_URL: provider.baseUrl });
    expect(end.code).toBe(2);
    expect(provider.requests).toEqual([]);
  });
});

test('[XS7] a redirect of a model server is not followed: prompt and key stay where they were sent', async () => {
  await using elsewhere = await FakeProvider.start({ text: 'Caught.' });
  const location = `${elsewhere.baseUrl}/chat/completions`;
  for (const status of [302, 307, 308]) {
    await using provider = await FakeProvider.start({ status, headers: { location } });
    const cwd = await makeProject({
      'flow.yaml':
        'name: t\nagents: { a: { inline: { prompt: p, model: openai/m, tools: [] } } }\nsteps: [{ id: s, agent: a, prompt: hello, retry_count: 0 }]\n',
    });
    const end = await served(['run', 'flow.yaml'], { cwd, env: { ...KEYS, OPENAI_BASE_URL: provider.baseUrl } });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('redirects are not followed');
    expect(elsewhere.requests).toEqual([]);
  }
});
