import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Policy } from 'skein/yaml';
import type { NarrowPolicy } from '../../src/plan/policy.js';
import { definePlan, run } from 'skein';
import { NO_CALL, tell } from './support/figures.js';

/** A server of models that counts. */
async function counting(): Promise<{ readonly url: string; readonly calls: () => number }> {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, calls: () => calls };
}

async function called(policies: (host: string) => readonly Policy[]) {
  const { url, calls } = await counting();
  const { host } = new URL(url);
  const agent = {
    name: 'a',
    instructions: ['Work.'],
    models: ['openai/m'],
    provider: { type: 'openai', baseUrl: url },
  };
  const plan = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'agent', output: 'said', prompt: ['Go.'], agent }] });
  const { error } = await run(plan, { policy: [...policies(host)], models: { env: {}, noProbe: true } }).result;
  return { code: error?.code, message: error?.message, calls: calls() };
}

describe('[G10] where models are called that a workflow names an address for', () => {
  it.each([
    ['there is no policy', () => []],
    ['domains list it', (host) => [{ file: 'own', widens: true, domains: [host] }]],
    [
      'the project is of strangers, and the user declares the host',
      (host) => [{ file: 'own', widens: true, project: 'untrusted', hosts: [host] }],
    ],
  ] satisfies readonly (readonly [string, (host: string) => readonly Policy[]])[])(
    'is reached when %s',
    async (_, policies) => {
      expect((await called(policies)).calls).toBeGreaterThan(0);
    },
  );

  it.each([
    ['domains do not list it', () => [{ file: 'own', widens: true, domains: ['example.com'] }]],
    ['the domains of the project do not list it', () => [{ file: 'project', domains: ['example.com'] }]],
    ['the project is of strangers', () => [{ file: 'own', widens: true, project: 'untrusted' }]],
    [
      'the project is of strangers, and only its own policy declares the host',
      (host) => [
        { file: 'own', widens: true, project: 'untrusted' },
        { file: 'project', hosts: [host] },
      ],
    ],
  ] satisfies readonly (readonly [string, (host: string) => readonly Policy[]])[])(
    'is not reached when %s',
    async (_, policies) => {
      const { code, message, calls } = await called(policies);
      expect([code, calls]).toEqual(['SKEIN_POLICY', 0]);
      expect(message).toMatch(/models are not called at http:\/\/127\.0\.0\.1:\d+\/v1: /);
      tell({ what: 'addresses of models against a policy', n: 1, forbidden: calls, goal: NO_CALL });
    },
  );

  const inner = (host: string, url: string, policy?: NarrowPolicy) => ({
    name: 'a',
    instructions: ['Work.'],
    models: ['openai/m'],
    provider: { type: 'openai', baseUrl: url },
    ...(policy && { policy: policy.domains?.includes('HOST') === true ? { ...policy, domains: [host] } : policy }),
  });

  it.each([
    ['lists it', ['HOST'], true],
    ['lists another one', ['example.com'], false],
  ] as const)('is reached from a called file as its own policy %s', async (_, domains, isReached) => {
    const { url, calls } = await counting();
    const agent = inner(new URL(url).host, url, { file: 'sub/policy.toml', domains: [...domains] });
    const { plan: sub } = definePlan({ name: 'sub', nodes: [{ id: 'a', kind: 'agent', prompt: ['Go.'], agent }] });
    const plan = definePlan({ name: 'p', nodes: [{ id: 'c', kind: 'call', plan: sub, inputs: {}, outputs: {} }] });
    const policy: readonly Policy[] = [{ file: 'own', widens: true, domains: [new URL(url).host] }];
    const { error } = await run(plan, { policy: [...policy], models: { env: {}, noProbe: true } }).result;
    expect([error?.code === 'SKEIN_POLICY', calls() > 0]).toEqual([!isReached, isReached]);
    tell({ what: 'addresses of models against a policy', n: 1, forbidden: isReached ? 0 : calls(), goal: NO_CALL });
  });

  it('is not reached from a run that a function starts when the policy of that run does not list it', async () => {
    const { url, calls } = await counting();
    const agent = inner(new URL(url).host, url);
    const sub = definePlan({ name: 'sub', nodes: [{ id: 'a', kind: 'agent', prompt: ['Go.'], agent }] });
    const strict = [{ file: 'strict', domains: ['example.com'] }];
    const codes: unknown[] = [];
    const starts = async (_: unknown, { runOptions }: { readonly runOptions: object }): Promise<object> => {
      for (const more of [{}, { policy: strict }])
        codes.push((await run(sub, { ...runOptions, ...more }).result).error?.code);
      return {};
    };
    const plan = definePlan({ name: 'p', nodes: [{ id: 's', run: starts }] });
    await run(plan, { models: { env: {}, noProbe: true } }).result;
    expect(codes[0]).not.toBe('SKEIN_POLICY');
    expect([codes[1], calls()]).toEqual(['SKEIN_POLICY', 1]);
  });
});
