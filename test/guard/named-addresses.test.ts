import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Policy } from 'skein/yaml';
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
});
