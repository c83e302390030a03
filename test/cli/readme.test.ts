import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAsShown, readmeSections } from './support/readme.js';
import type { Section, ShownCommand, ShownFile } from './support/readme.js';
import { ROOT, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startAnyOnTerminal } from './support/terminal.js';

const SECTIONS = readmeSections();
const FIRST_MINUTES = join(ROOT, 'examples/first-minutes');

/** Commands of the README that are not run here, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci': 'it fetches packages from the network',
  'npm run build': 'these tests run what it has made, and so do others at the same time',
};
for (const [command, why] of Object.entries(NOT_RUN)) console.log(`of the README, ${command} is not run: ${why}`);

const missing = noTerminal();
if (missing !== undefined) console.log(`the commands of the README are not run: ${missing}`);

const isCommand = (part: ShownCommand | ShownFile): part is ShownCommand => 'command' in part;
const COMMANDS = SECTIONS.flatMap(({ parts }) => parts.filter(isCommand));
const FILES = SECTIONS.flatMap(({ parts }) => parts.filter((part): part is ShownFile => !isCommand(part)));

/** Waits as long as it takes this machine until two steps of a run that goes on are recorded, and not much longer: the third one takes seconds. */
const SLEEP = `#!/bin/sh
turn=0
while [ $turn -lt 600 ]; do
  for run in .workflow-runs/*; do
    [ -e "$run/final_output.md" ] || [ "$(find "$run" -name output.md 2>/dev/null | wc -l)" -lt 2 ] || exit
  done
  /bin/sleep 0.2
  turn=$((turn + 1))
done
`;

describe('[XU1] the README', () => {
  test('shows commands, and the exceptions among them are what the list says', () => {
    const commands = COMMANDS.map(({ command }) => command);
    expect(commands.length).toBeGreaterThan(12);
    expect(commands).toEqual(expect.arrayContaining(Object.keys(NOT_RUN)));
  });

  test('shows the files of examples/first-minutes', async () => {
    expect(FILES.map(({ name }) => name)).toEqual(['explain.yaml', 'translate.yaml', 'flow.ts', 'chat.ts']);
    for (const { name, text } of FILES) {
      const file = await readFile(join(FIRST_MINUTES, name), 'utf8');
      // A line for editors is no part of what is shown.
      expect(file.replace(/^# yaml-language-server: .*\n/m, '')).toBe(text);
    }
  });

  test('shows a fork and a resume that reuse something and run something', () => {
    for (const verb of ['skein fork', 'skein resume']) {
      const shown = COMMANDS.find(({ command }) => command.startsWith(verb))?.shown;
      expect(shown).toContainEqual(expect.stringMatching(/^[1-9]\d* reused, [1-9]\d* run$/));
    }
  });

  test('names only commands that there are', async () => {
    const text = await readFile(join(ROOT, 'README.md'), 'utf8');
    const named = new Set([...text.matchAll(/(?:`|^\$ )skein ([a-z]+)/gm)].map(([, verb = '']) => verb));
    expect(named.size).toBeGreaterThan(8);
    const help = (await served(['help'], { cwd: ROOT })).stdout;
    for (const verb of named) expect(help).toMatch(new RegExp(`^ +${verb}\\b`, 'm'));
  });

  test.each([
    ['explain.yaml', 'run', [], 0],
    ['translate.yaml', 'exec', ['Closed until Monday'], 5],
    ['flow.ts', 'run', ['--input', 'topic=looms'], 0],
    ['chat.ts', 'run', ['--input', 'say=Hello'], 0],
  ] as const)('its %s ends with --mock alone, after a handful of steps', async (name, verb, words, code) => {
    const cwd = await makeProject({ [name]: await readFile(join(FIRST_MINUTES, name), 'utf8') });
    const end = await served([verb, name, ...words, '--mock', '--no-audit', '--no-store'], { cwd });
    expect(end.code, end.stderr).toBe(code);
    expect(end.stderr.match(/^step \S+ started$/gm)?.length).toBeLessThan(5);
  });
});

test.each([
  [['a', 'b'], ['a', 'b'], true],
  [['a', 'b'], ['', 'a', 'b', ''], true],
  [['a', 'b'], ['a', 'x', 'b'], false],
  [['a'], ['a', 'b'], false],
  [['...', 'b'], ['a', 'x', 'b'], true],
  [['a', '...'], ['a'], true],
  [['a', '...', 'c'], ['a', 'b'], false],
  [['done in 1.2s: 3 (all)'], ['done in 1m20s: 3 (all)'], true],
  [['done in 1.2s: 3'], ['done in 1.2s: 4'], false],
  [['time   steps'], ['time  steps'], true],
  [['time   steps'], ['time steps'], false],
  [['  steps'], ['    steps'], false],
])('[XU1] %j shown and %j on the screen: %s', (shown, screen, expected) => {
  expect(isAsShown(shown, screen)).toBe(expected);
});

/** Blanks and letters of other scripts: what works here works in a folder with a plain name. */
const FOLDER = 'ein Ordner mit Täschchen и 漢字';

describe.skipIf(missing !== undefined)(`[XU1] in a folder called "${FOLDER}"`, () => {
  let base = '';

  beforeAll(async () => {
    base = join(await realpath(await mkdtemp(join(tmpdir(), 'skein-readme-'))), FOLDER);
    const checkout = join(base, 'checkout');
    await mkdir(checkout, { recursive: true });
    for (const part of ['dist', 'examples', 'package.json'])
      await cp(join(ROOT, part), join(checkout, part), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    await mkdir(join(base, 'bin'));
    await writeFile(join(base, 'bin/sleep'), SLEEP);
    await chmod(join(base, 'bin/sleep'), 0o755);
  });

  afterAll(() => rm(join(base, '..'), { recursive: true, force: true, maxRetries: 3 }));

  /** Where the commands of a section are typed: what installs stands in the checkout, anything else in a folder that has the examples. */
  async function folderOf({ title, parts }: Section): Promise<string> {
    if (parts.some((part) => isCommand(part) && part.command.startsWith('npm '))) return join(base, 'checkout');
    const cwd = join(base, title);
    await cp(join(ROOT, 'examples'), join(cwd, 'examples'), { recursive: true });
    return cwd;
  }

  test.each(SECTIONS.map((section) => [section.title, section] as const))(
    'the commands under "%s" give what is shown',
    { timeout: 400_000 },
    async (_, section) => {
      const cwd = await folderOf(section);
      const typed = section.parts.filter((part) => !isCommand(part) || NOT_RUN[part.command] === undefined);
      const shown = join(base, `shown under ${section.title}`);
      await mkdir(shown);
      for (const part of typed) if (!isCommand(part)) await writeFile(join(shown, part.name), part.text);
      await writeFile(join(base, 'typed.sh'), scriptOf(typed, shown));
      const PATH = [join(base, 'prefix/bin'), join(base, 'bin'), process.env['PATH'] ?? ''].join(':');
      const env = { PATH, LANG: 'C.UTF-8', npm_config_prefix: join(base, 'prefix'), npm_config_progress: 'false' };
      const end = await startAnyOnTerminal(['sh', join(base, 'typed.sh')], { cwd, env }).ended;
      typed.forEach((part, at) => {
        if (!isCommand(part)) return;
        const [, printed = '', code] =
          new RegExp(`<begin ${at}>\\r\\n([^]*)<end ${at}: (\\d+)>`).exec(end.stdout) ?? [];
        expect(code, `${part.command}\n${printed}`).toBe('0');
        if (part.shown === undefined) return;
        const screen = screenOf(printed);
        const told = `$ ${part.command}\n${screen.join('\n')}`;
        expect(isAsShown(part.shown, screen) ? 'as shown' : told).toBe('as shown');
      });
    },
  );
});

/** A script of the shell that does what a person does who goes through a section, with marks around what each command prints. */
function scriptOf(parts: Section['parts'], shown: string): string {
  const lines = parts.map((part, at) =>
    isCommand(part)
      ? `printf '<begin ${at}>\\n'\n${part.command}\ncode=$?; wait; printf '<end ${at}: %s>\\n' $code`
      : `cp '${join(shown, part.name)}' .`,
  );
  return `${lines.join('\n')}\n`;
}
