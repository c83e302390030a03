import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventsOf } from '../agent/support/wire-formats.js';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `agents:
  scout: { model: own, instruction: You look. }
models:
  own: { provider: openai-compatible, model: m }
workflow:
  - type: parallel
    id: all
    steps:
      - { id: a, type: agent, name: scout }
      - { id: b, type: agent, name: scout }
      - { id: c, type: agent, name: scout }
`;

/** Answers after a while; `most`: how many calls it had at once. */
async function provider(ms: number) {
  let now = 0;
  let most = 0;
  const server = createServer((request, response) => {
    request.resume();
    most = Math.max(most, (now += 1));
    setTimeout(() => {
      now -= 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(eventsOf('chat', { text: 'Seen.' }, 'm').join(''));
    }, ms);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { env: { OPENAI_COMPATIBLE_BASE_URL: url }, most: () => most };
}

describe('[15.5] --limits', () => {
  test('bounds the calls of a provider, and the wait is shown, in logs too', async () => {
    const { env, most } = await provider(1_200);
    const limits = 'openai-compatible: { concurrency: 1, tokensPerMinute: 200k }\n';
    const cwd = await makeProject({ 'flow.yaml': FLOW, 'limits.yaml': limits });
    const end = await served(['run', 'flow.yaml', '--limits', 'limits.yaml', '--verbose', '--no-audit'], { cwd, env });
    expect([end.code, end.stderr]).toEqual([0, end.stderr]);
    expect(most()).toBe(1);
    expect(end.stderr).toMatch(/\[all\/\w\] turn 1 waits until openai-compatible\/m takes it, behind \d calls?/);
    expect(end.stderr).toMatch(/\[all\/\w\] turn 1 waited \d\.\ds for openai-compatible\/m/);
    const logs = await served(['logs', '-1'], { cwd });
    expect(logs.stdout).toMatch(/openai-compatible\/m: waited \d\.\ds for its turn/);
  });

  test('is kept with the run: a resume keeps to it', async () => {
    const { env, most } = await provider(50);
    const limits = '{ "openai-compatible": { "concurrency": 1 } }';
    const flow = FLOW.replace('type: parallel', 'type: parallel\n    on_error: continue');
    const cwd = await makeProject({ 'flow.yaml': flow, 'limits.json': limits });
    const nowhere = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' };
    const failed = await served(['run', 'flow.yaml', '--limits', 'limits.json', '--no-audit', '--json'], {
      cwd,
      env: nowhere,
    });
    expect(documentOf(failed)).toMatchObject({ outcome: 'degraded' });
    const again = await served(['resume', '-1', '--json'], { cwd, env });
    expect(documentOf(again)).toMatchObject({ outcome: 'succeeded', modelCalls: 3 });
    expect(most()).toBe(1);
  });

  test('a file with mistakes tells them all, each with its place, and nothing runs', async () => {
    const bad = `opnai: { concurrency: 1 }\nopenai: { concurency: 2, requestsPerMinute: 0 }\nanthropic:\n  tokensPerMinute: 200t\n  concurrency: -3\nollama: fast\n`;
    const cwd = await makeProject({ 'flow.yaml': FLOW, 'bad.yaml': bad });
    const end = await served(['run', 'flow.yaml', '--limits', 'bad.yaml'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    const places = [...end.stderr.matchAll(/bad\.yaml:(\d+):(\d+): error bad-limit/g)].map(([, line]) => Number(line));
    expect(places).toEqual([1, 2, 2, 4, 5, 6]);
    expect(end.stderr).toContain('did you mean "openai"?');
    expect((await served(['run', 'flow.yaml', '--limits', 'none.yaml'], { cwd })).code).not.toBe(0);
    expect((await served(['runs'], { cwd })).stdout).not.toContain('flow');
  });
});
