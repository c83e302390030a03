import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEYS } from '../secrets/keys.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Not in one piece, so that no scanner takes it for a key. */
const PRIVATE_KEY = ['PRIVATE', 'KEY'].join(' ');
const TOKEN = 'Qw8RtYuI9pAsDfG3hJkLzXc5VbNm2QwErT7yUiOp';
const BODY = Array.from(
  { length: 12 },
  (_, at) => `MIIE${at}pAIBAAKCAQEAx7Yz${at}QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUiOp`,
);
const PEM = `-----BEGIN RSA ${PRIVATE_KEY}-----\n${BODY.join('\n')}\n-----END RSA ${PRIVATE_KEY}-----`;
const ENV = { SHOP_TOKEN: TOKEN };

/** Every cut falls into a secret: outputs in prompts, results, excerpts in errors, lines of tools, lines of screens. */
const FLOW = `name: t
output: { format: markdown, truncate: { strategy: chars, limit: 500 } }
config: { truncate: { strategy: chars, limit: 777 } }
agents:
  w: { inline: { prompt: You write., tools: [read_file, grep] } }
  asking: { inline: { prompt: You write., tools: [grep], approve: [grep] } }
steps:
  - { id: one, agent: w, prompt: Write }
  - { id: json, agent: w, prompt: json, schema: { kind: { enum: [a, b] } }, on_error: continue, depends_on: [one] }
  - { id: two, agent: w, prompt: 'Again {{steps.one.output}}', depends_on: [one], on_error: continue }
  - { id: ask, agent: asking, prompt: Ask, depends_on: [two] }
`;

/** More of a secret than may be seen: 20 characters, or a line of a private key. */
function pieces(secret: string): readonly string[] {
  if (secret === PEM) return BODY.map((line) => line.slice(4, 24));
  return Array.from({ length: secret.length - 20 }, (_, at) => secret.slice(at, at + 20));
}

const SECRETS = { token: TOKEN, github: KEYS['github'] ?? '', stripe: KEYS['stripe'] ?? '', 'private key': PEM };

test.each(Object.entries(SECRETS))(
  'a %s that is cut or on several lines is in no screen and no file',
  async (_, secret) => {
    const said = `${' '.repeat(700)}${`${secret} `.repeat(Math.ceil(4_000 / secret.length))}`;
    const tools = [
      { name: 'read_file', input: { path: said } },
      { name: 'grep', input: { pattern: said } },
      { name: 'grep', input: { pattern: 'x' } },
    ];
    const rules = [
      { step: 'one', answers: [{ text: said, tools }, { text: said }] },
      { step: 'json', answer: { text: JSON.stringify({ kind: said, [said]: 1 }) } },
      { step: 'ask', answer: { tools: [{ name: 'grep', input: { pattern: `${said}${said}` } }] } },
    ];
    const cwd = await makeProject({
      'flow.yaml': FLOW,
      'script.yaml': JSON.stringify({ rules }),
      'big.txt': `x ${said.trim()}\n`,
    });
    const words = ['--mock=script.yaml', '--verbose', '--stream', '--record', 'calls.jsonl', '--audit-dir', 'audit'];
    const end = await served(['run', 'flow.yaml', ...words], { cwd, env: ENV });
    expect(end.code).toBe(5);
    const leaks = (text: string): readonly string[] => pieces(secret).filter((piece) => text.includes(piece));
    expect(end.stderr).toContain('[redacted]');
    expect(leaks(end.stderr)).toEqual([]);
    const found = await readdir(join(cwd, 'audit'), { withFileTypes: true, recursive: true });
    const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    for (const file of [...files, join(cwd, 'calls.jsonl')])
      expect(leaks(await readFile(file, 'utf8')), file).toEqual([]);
    const commands = [['show', '-1'], ['show', '-1', '--json'], ['logs', '-1'], ['logs', '-1', '--json'], ['runs']];
    for (const command of commands) {
      const shown = await served(command, { cwd, env: ENV });
      expect(leaks(shown.stdout + shown.stderr), command.join(' ')).toEqual([]);
    }
  },
);

test('a secret is in no line that thread and compare show of two conversations', async () => {
  const flow =
    'name: t\nagents:\n  w: { inline: { prompt: You write. } }\nsteps:\n  - { id: one, agent: w, prompt: Write }\n';
  const cwd = await makeProject({ 'flow.yaml': flow });
  const texts = { a: `${' '.repeat(1_970)}${`${TOKEN} `.repeat(90)}`, b: `so\n${PEM}` };
  for (const [name, answer] of Object.entries(texts)) {
    await writeFile(join(cwd, 'script.yaml'), JSON.stringify({ rules: [{ step: 'one', answer }] }));
    const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--thread', name], { cwd, env: ENV });
    expect(end.code).toBe(0);
  }
  for (const command of [
    ['compare', '-1', '-2'],
    ['thread', 'a'],
    ['thread', 'b'],
  ]) {
    const { stdout } = await served(command, { cwd, env: ENV });
    expect(stdout).toContain('[redacted]');
    for (const piece of [...pieces(PEM), ...pieces(TOKEN)]) expect(stdout, command.join(' ')).not.toContain(piece);
  }
});
