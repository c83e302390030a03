import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSandbox } from '../../src/agent/sandbox/sandbox.js';
import { NO_CALL, tell } from '../guard/support/figures.js';
import { served } from './support/served.js';
import { ROOT, makeProject, start } from './support/skein.js';
import { noTerminal, startOnTerminal } from './support/terminal.js';

interface Example {
  readonly name: string;
  readonly calls: number;
  /** A text of each question that is asked where nothing is declared. */
  readonly questions: readonly string[];
}

const REVIEW = { name: 'review', calls: 15, questions: ['"--check"', '"--test"', 'make these 3 calls'] };
const REPORT = { name: 'report', calls: 11, questions: [] };
const TRIAGE = { name: 'triage', calls: 51, questions: ['make these 20 calls', 'make these 10 calls'] };

const sandbox = await describeSandbox();
if ('problem' in sandbox) console.log(`the reviewing agent is not run: no sandbox works here (${sandbox.problem})`);
const EXAMPLES: readonly Example[] = 'problem' in sandbox ? [REPORT, TRIAGE] : [REVIEW, REPORT, TRIAGE];

/** A copy of the example, as a clone has it, and its stand-in for the web. */
async function copied({ name }: Example, change: (text: string) => string = (text) => text) {
  const cwd = await makeProject();
  await cp(join(ROOT, 'examples/guarded-agents'), cwd, { recursive: true });
  const port = await freePort();
  for (const file of [`${name}.yaml`, `script-${name}.yaml`, `script-${name}-planted.yaml`, 'site.mjs', 'app/sum.js']) {
    const text = (await readFile(join(cwd, file), 'utf8')).replaceAll('8787', String(port));
    await writeFile(join(cwd, file), file === `${name}.yaml` ? change(text) : text);
  }
  const site = start([process.execPath, 'site.mjs', String(port)], { cwd });
  await site.seen('listening');
  let requests = '';
  site.child.stdout?.on('data', (text: string) => (requests += text));
  const words = (script: string) =>
    `run ${name}.yaml --model script/${script}.yaml --no-audit --no-color --allow-private-addresses`.split(' ');
  const sent = async () => await readFile(join(cwd, 'sent.jsonl'), 'utf8').catch(() => '');
  return { cwd, words, sent, requests: () => requests };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** The file without what it declares. */
function undeclared(text: string): string {
  return text.replaceAll(/^(?:hosts|commands|sends):.*\n(?: {2}.*\n)*/gm, '');
}

/** Runs to the end, with a person who allows all that is asked; gives how often that was. */
async function answeredOneByOne(cwd: string, words: readonly string[]) {
  let end = await served(words, { cwd });
  let asked = 0;
  for (; end.code === 5; asked += 1) {
    expect(await served(['answer', '-1', 'allow'], { cwd })).toMatchObject({ code: 0 });
    end = await served(['resume', '-1', '--no-color'], { cwd });
  }
  return { asked, code: end.code };
}

describe.each(EXAMPLES)('the example agent $name', (example) => {
  const { name, calls, questions } = example;

  it('makes all of its calls unasked, as it declares them', async () => {
    const { cwd, words } = await copied(example);
    const end = await served(words(`script-${name}`), { cwd });
    expect({ code: end.code, stderr: end.stderr }).toMatchObject({ code: 0 });
    expect(end.stderr).toContain(`${calls} tool calls`);
    expect(end.stderr).not.toContain('May the agent');
    tell({ what: `example agent ${name}, declared`, n: calls, asked: 0, goal: '0 asked' });
  });

  it(`without declarations and without a terminal pauses ${questions.length} times`, async () => {
    const { cwd, words } = await copied(example, undeclared);
    expect(await answeredOneByOne(cwd, words(`script-${name}`))).toEqual({ asked: questions.length, code: 0 });
    tell({ what: `example agent ${name}`, n: calls, asked: questions.length, goal: `${questions.length} asked` });
  });

  it('makes no forbidden call after a planted instruction, with all that is declared', async () => {
    const { cwd, words, sent, requests } = await copied(example);
    const end = await served(words(`script-${name}-planted`), { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr + end.stdout).toContain('Untrusted text influenced');
    expect([await sent(), existsSync(join(cwd, 'package.json'))]).toEqual(['', false]);
    expect(requests()).not.toMatch(/steal|install/);
    tell({ what: `example agent ${name}, planted`, n: 1, forbidden: 0, goal: NO_CALL });
  });
});

it('the example agent report is asked about its pages once where it may also read the project', async () => {
  const mayRead = (text: string) => undeclared(text).replace('[fetch, write_file]', '[fetch, write_file, read_file]');
  const { cwd, words } = await copied(REPORT, mayRead);
  expect(await answeredOneByOne(cwd, words('script-report'))).toEqual({ asked: 1, code: 0 });
});

const missing = noTerminal();
if (missing !== undefined) console.log(`questions on a terminal are not shown: ${missing}`);

describe.skipIf(missing !== undefined)('on a terminal', () => {
  it.each(EXAMPLES)('$name asks as often', async (example) => {
    const { cwd, words } = await copied(example, undeclared);
    const run = startOnTerminal(words(`script-${example.name}`), { cwd });
    for (const text of example.questions) {
      await run.seen(text);
      run.child.stdin?.write('allow\n');
    }
    const end = await run.ended;
    expect({ code: end.code, asked: end.stdout.match(/2\. deny/g)?.length ?? 0 }).toEqual({
      code: 0,
      asked: example.questions.length,
    });
  });
});
