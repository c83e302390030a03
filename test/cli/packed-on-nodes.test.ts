import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { toolServer } from '../mcp/support.js';
import { installPacked } from './support/packed.js';
import type { Ended, Running } from './support/skein.js';
import { start, trusting } from './support/skein.js';

/** Programs of Node besides the one that runs the tests: `npm run test:nodes` names those of later versions. */
const OTHERS = (process.env['SKEIN_NODES'] ?? '').split(delimiter).filter((path) => path !== '');
const LONG = 120_000;

/** A line for who reads the results of a run without other versions. */
test.skipIf(OTHERS.length === 0)('SKEIN_NODES names other versions of Node: npm run test:nodes', () => {
  expect(OTHERS.map((program) => versionsOf(program)['node'])).not.toContain(undefined);
});

let packed = '';

beforeAll(async () => {
  packed = await installPacked();
}, LONG);

afterAll(() => rm(packed, { recursive: true, force: true, maxRetries: 3 }));

function versionsOf(program: string): Readonly<Record<string, string>> {
  return JSON.parse(execFileSync(program, ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' })) as Record<
    string,
    string
  >;
}

const SLOW = `rules:
  - { step: one, answer: first }
  - { step: two, answer: { text: second, delay: 600s } }
`;
const CHAIN = `name: chain
agents: { a: { inline: { prompt: You help. } } }
steps:
  - { id: one, agent: a, prompt: p }
  - { id: two, agent: a, prompt: "{{steps.one.output}}", depends_on: [one] }
`;

describe.each([process.execPath, ...OTHERS].map((program) => ({ program, versions: versionsOf(program) })))(
  'the packed tarball on Node $versions.node',
  ({ program, versions }) => {
    const old =
      program === process.execPath && OTHERS.length > 0 ? 'node-of-tests' : `node-${String(versions['node'])}`;
    const sqlite = versions['sqlite'];
    const own = sqlite !== undefined && sqlite.localeCompare('3.51.3', 'en', { numeric: true }) >= 0;
    const drivers: readonly (readonly [name: string, env: Readonly<Record<string, string>>])[] = [
      [own ? 'node:sqlite' : '@photostructure/sqlite', {}],
      ...(own ? ([['@photostructure/sqlite', { NODE_OPTIONS: '--no-experimental-sqlite' }]] as const) : []),
    ];

    /** A folder of this Node and this test beside the package. */
    async function project(name: string, files: Readonly<Record<string, string>>): Promise<string> {
      const cwd = join(packed, `${old}-${name.replaceAll(/\W+/g, '-')}`);
      await mkdir(cwd, { recursive: true });
      for (const [file, text] of Object.entries(files)) await writeFile(join(cwd, file), text);
      return cwd;
    }
    const begin = (cwd: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): Running =>
      start([program, join(packed, 'node_modules/skein/dist/cli/main.js'), ...trusting(words, {})], {
        cwd,
        env,
        input: '',
      });
    const skein = (...given: Parameters<typeof begin>): Promise<Ended> => begin(...given).ended;

    test.each(drivers)('a run is killed and resumed in a store by %s', { timeout: LONG }, async (driver, env) => {
      const cwd = await project(driver, { 'flow.yaml': CHAIN, 'script.yaml': SLOW });
      const doctor = await skein(cwd, ['doctor'], env);
      expect(doctor.stdout + doctor.stderr).toContain(driver);
      const running = begin(cwd, ['run', 'flow.yaml', '--mock=script.yaml', '--no-audit'], env);
      await running.seen('step two started');
      running.child.kill('SIGKILL');
      expect(await running.ended).toMatchObject({ signal: 'SIGKILL' });
      await writeFile(join(cwd, 'script.yaml'), SLOW.replace(', delay: 600s', ''));
      const resumed = await skein(cwd, ['resume', '-1'], env);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(resumed.stderr).toMatch(/^step one .*reused/m);
      expect(resumed.stdout).toContain('second');
    });

    test('a module has the SkeinError of the program, in JavaScript and in TypeScript', { timeout: LONG }, async () => {
      const text = (types: string): string => `import { SkeinError } from 'skein';
import { graph } from 'skein/graph';
${types}
let caught${types === '' ? '' : ': Seen'} = false;
try {
  graph({ name: 'broken' }).addNode('a', () => null).addEdge('a', 'nowhere').setEntry('a').compile();
} catch (error) {
  caught = error instanceof SkeinError;
}
export default graph({ name: 'same' }).node('same', () => caught, { inputs: [] }).setEntry('same');
`;
      const enums = 'type Seen = boolean;\nenum Kind { One = 1 }\nconsole.error(`kind ${Kind.One}`);';
      const cwd = await project('modules', { 'same.mjs': text(''), 'same.ts': text(enums) });
      for (const file of ['same.mjs', 'same.ts']) {
        const end = await skein(cwd, ['run', file, '--json', '--no-audit', '--no-store']);
        expect(end.code, end.stderr).toBe(0);
        expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'succeeded', state: { same: true } });
        if (file.endsWith('.ts')) expect(end.stderr).toContain('kind 1');
      }
    });

    test('a provider answers', { timeout: LONG }, async () => {
      await using provider = await FakeProvider.start({ text: 'from afar' });
      const key = 'key-of-a-test';
      for (const [model, env] of [
        ['openai/gpt-5-mini', { OPENAI_API_KEY: key, OPENAI_BASE_URL: provider.baseUrl }],
        ['anthropic/claude-haiku-4-5', { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: provider.baseUrl }],
      ] as const) {
        const cwd = await project(model, { 'flow.yaml': CHAIN });
        const end = await skein(cwd, ['run', 'flow.yaml', '--model', model, '--no-audit'], env);
        expect(end.code, end.stderr).toBe(0);
        expect(end.stdout).toContain('from afar');
      }
    });

    test('a tool of an MCP server is called', { timeout: LONG }, async () => {
      const pids = join(packed, `${old}-pids`);
      const kit = { ...toolServer('tools=echo', `pids=${pids}`), tools: ['*'] };
      const head = { name: 'keeper', 'mcp-servers': { kit } };
      const cwd = await project('mcp', {
        'keeper.agent.md': `---\n${JSON.stringify(head, null, 1)}\n---\nYou keep.\n`,
        'flow.yaml': `name: tools
agents: { keeper: { file: keeper.agent.md } }
steps:
  - { id: ask, agent: keeper, prompt: go }
`,
        'script.yaml': `rules:
  - agent: keeper
    answers:
      - tools: [{ name: mcp_kit_echo, input: { text: hello } }]
      - done
`,
      });
      const end = await skein(cwd, ['run', 'flow.yaml', '--model', 'script/script.yaml', '--no-store']);
      expect(end.code, end.stderr).toBe(0);
      expect(end.stderr).toContain('1 tool call');
      expect(existsSync(pids)).toBe(true);
    });
  },
);
