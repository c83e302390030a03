import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { ROOT, makeProject } from './support/skein.js';

const AGENT = 'agents: { w: { inline: { prompt: Write., model: openai/gpt-5-mini } } }\n';
const flow = (steps: string, more = ''): string => `name: flow\n${more}${AGENT}steps:\n${steps}`;

const STATES = {
  talk: { prompt_task: 'talk', on_event: { Done: 'bye' } },
  bye: { prompt_task: 'bye', terminal: true },
};
const FILES = {
  'good.yaml': flow('  - { id: a, agent: w, prompt: Hi }\n'),
  'bad.yaml': flow('  - { id: a, agent: w, prompt: Hi }\n  - { id: b, agent: w, prompt: Ho, depends_on: [a] }\n'),
  'fails.yaml':
    'rules:\n  - { step: a, answer: x }\n  - { step: b, answers: [{ error: { code: SKEIN_TIMEOUT, message: none } }] }\n',
  'asks.yaml': flow('  - { id: ok, type: ask, question: "Publish?", choices: [yes, no] }\n'),
  'ends.yaml': `agents: { w: { instruction: Write. } }
workflow:
  - { id: a, type: agent, name: w }
  - { type: end, status: failed, reason: "It's over." }
`,
  'bounded.yaml': `agents: { w: { instruction: Write. } }
workflow:
  - { id: rounds, type: loop, max_rounds: 2, on_limit: continue, until: { line: DONE }, steps: [{ id: a, type: agent, name: w }] }
`,
  'desk.pack.json': packText({ talk: 'You talk.', bye: 'You part.' }, STATES),
};

const BOUND = flow('  - { id: a, agent: w, prompt: Hi }\n  - { id: b, agent: w, prompt: Ho, depends_on: [a] }\n');

/** Command lines that say what to do next, each the last of some. */
const CASES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'a new project': [['new', 'of $mine/report']],
  'a failed run': [['run', 'bad.yaml', '--mock=fails.yaml']],
  'a failed run that is shown': [
    ['run', 'bad.yaml', '--mock=fails.yaml'],
    ['show', '-1'],
  ],
  'a failed run without an audit folder': [['run', 'bad.yaml', '--mock=fails.yaml', '--no-audit']],
  'a failed run without a record': [['run', 'bad.yaml', '--mock=fails.yaml', '--no-store']],
  'a loop that reached its bound': [['run', 'bounded.yaml', '--mock']],
  'a run that a step ended': [['run', 'ends.yaml', '--mock']],
  'a run that a step ended, shown': [
    ['run', 'ends.yaml', '--mock'],
    ['show', '-1'],
  ],
  'a question': [['run', 'asks.yaml', '--mock']],
  'a question without a record': [['run', 'asks.yaml', '--mock', '--no-store']],
  'an answer': [
    ['run', 'asks.yaml', '--mock'],
    ['answer', '-1', 'yes'],
  ],
  'a run out of budget': [['run', 'bound.yaml', '--mock', '--budget', '1-call']],
  'a step out of budget': [['run', 'step.yaml', '--mock']],
  'a budget that is raised': [
    ['run', 'bound.yaml', '--mock', '--budget', '1-call'],
    ['budget', '-1', '+1-calls'],
  ],
  'a conversation': [['run', 'desk.pack.json', '--mock', '--message', 'Hi', '--thread', 'ada']],
};

const STEP = `agents: { w: { instruction: Write., model: openai/gpt-5-mini } }
workflow:
  - { id: both, type: parallel, budget: 1-call, steps: [{ id: a, type: agent, name: w }, { id: b, type: agent, name: w }] }
`;

/** The words of a command as a shell reads them. */
function wordsOf(command: string): readonly string[] {
  const script = `skein() { printf '%s\\0' "$@"; }\n${command}\n`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const FILLED: Readonly<Record<string, string>> = { STEP: 'a', TEXT: 'Well?', VALUE: 'yes' };

describe.skipIf(process.platform === 'win32')('what to do next after', () => {
  it.each(Object.entries(CASES))(
    '%s: words, and commands alone on their lines that work as they stand',
    async (_, all) => {
      const cwd = await makeProject({ ...FILES, 'bound.yaml': BOUND, 'step.yaml': STEP });
      let said = '';
      for (const words of all) {
        const { stdout, stderr } = await served(words, { cwd });
        said = stdout + stderr;
      }
      expect(said).toMatch(/^next: \w/m);
      expect(said).not.toMatch(/^next: .*skein /m);
      expect(said).not.toMatch(/^ *[^ ].* skein (?:run|resume|fork|answer|show|new|event|budget) /m);
      for (const [, command = ''] of said.matchAll(/^ {2}(skein .*)$/gm)) {
        const words = wordsOf(command).map((word) => FILLED[word] ?? word);
        const { code, stderr } = await served(words, { cwd });
        expect([0, 3, 5, 6], `${command}\n${stderr}`).toContain(code);
      }
    },
  );
});

it('what was recorded is looked at before anything is run again', async () => {
  const cwd = await makeProject(FILES);
  const { stderr } = await served(['run', 'bad.yaml', '--mock=fails.yaml', '--no-audit'], { cwd });
  expect(stderr).toMatch(/next: see every call that was made\n {2}skein logs [0-9a-f]{8}\n/);
  expect(stderr).not.toContain('--verbose');
});

it.each([
  ['run', ['run', 'bounded.yaml', '--mock']],
  ['show', ['show', '-1']],
])('where a limit was reached and nothing failed, %s does not speak of a failure', async (_, words) => {
  const cwd = await makeProject(FILES);
  await served(['run', 'bounded.yaml', '--mock'], { cwd });
  const { stdout, stderr } = await served(words, { cwd });
  expect(stdout + stderr).toMatch(/next: raise the limit that was reached, then continue.*\n {2}skein resume /);
  expect(stdout + stderr).not.toContain('what failed');
});

it.each(['answer', 'budget', 'cancel', 'compare', 'fork', 'logs', 'resume', 'show'])(
  'skein %s --help says how a run is named, in the words of all commands',
  async (command) => {
    const cwd = await makeProject({});
    const { stdout } = await served([command, '--help'], { cwd });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'run id of the run, or its beginning or end; -1 is the newest run',
    );
  },
);

it('one place of the source writes them, so that they all have one form', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const code = (file: string): string =>
    readFileSync(join(ROOT, 'src', file), 'utf8').replaceAll(/^ *(?:\/\/|\*).*/gm, '');
  expect(files.filter((file) => /['"`]next: /.test(code(file)))).toEqual([join('cli', 'view', 'next-steps.ts')]);
});
