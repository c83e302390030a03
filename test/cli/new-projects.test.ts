import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT, cleanEnv, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const exec = promisify(execFile);

test.each(['chain', 'fan-out', 'question', 'pipeline'])(
  '[XU12] the template %s runs with its script as its last line says',
  async (template) => {
    const cwd = await makeProject();
    const made = await served(['new', 'mine', '--template', template], { cwd });
    expect(made.code).toBe(0);
    const [, command = ''] = /next: .*\n {2}skein (.*)\n/.exec(made.stderr) ?? [];
    const end = await served([...command.split(' '), '--json', '--no-audit'], { cwd });
    expect(end.code, end.stderr).toBe(0);
    expect(documentOf(end)).toMatchObject({ outcome: 'succeeded' });
  },
);

test(
  '[XU12] [XU11] npm install, npx tsc, the schema of the script and npm start work in what skein new --ts makes from a checkout',
  { timeout: 300_000 },
  async () => {
    const cwd = await makeProject();
    const made = await served(['new', 'mine', '--ts'], { cwd });
    expect(made.stderr).toContain(`package.json depends on the Skein in ${ROOT}`);
    const mine = join(cwd, 'mine');
    const env = {
      ...process.env,
      ...cleanEnv(cwd),
      npm_config_cache: process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? cwd, '.npm'),
    };
    const npm = async (...words: string[]): Promise<string> => (await exec('npm', words, { cwd: mine, env })).stdout;
    await npm('install', '--no-audit', '--no-fund', '--prefer-offline');
    expect(existsSync(join(mine, 'node_modules/skein/package.json'))).toBe(true);
    const [, schema = 'none'] = /\$schema=(\S+)/.exec(await readFile(join(mine, 'script.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(mine, schema)), schema).toBe(true);
    await npm('exec', '--offline', '--', 'tsc');
    expect(await npm('start')).toContain('LOOMS: A paragraph that was written before the run.');
  },
);
