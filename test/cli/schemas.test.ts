import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { SCHEMA_NAMES, yamlSchema } from 'skein/yaml';
import type { SchemaName } from 'skein/yaml';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { ROOT, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const MODELINE = /^# yaml-language-server: \$schema=(\S+)$/;

/** What the schema in the first line of a file finds in it. An editor looks for it beside the file. */
function findingsByModeline(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const [, path = ''] = MODELINE.exec(text.split('\n', 1)[0] ?? '') ?? [];
  if (path === '') return ['no schema is named in the first line'];
  const schema: unknown = JSON.parse(readFileSync(resolve(dirname(file), path), 'utf8'));
  return schemaFindings(schema, parse(text));
}

function yamlFiles(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.yaml')).map((file) => join(folder, file));
}

describe('skein schema', () => {
  test.each(SCHEMA_NAMES)('[XU11] prints the schema of %s, which is in the package too', async (name) => {
    const { code, stdout } = await served(['schema', name], { cwd: ROOT });
    expect(code).toBe(0);
    const schema = await yamlSchema(name);
    expect(JSON.parse(stdout)).toEqual(schema);
    expect(JSON.parse(stdout)).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
    const shipped = readFileSync(join(ROOT, 'schema', `${name}.json`), 'utf8');
    expect(JSON.parse(shipped), 'run npm run build').toEqual(schema);
  });

  test('lists the schemas without a name, as JSON too', async () => {
    const lines = await served(['schema'], { cwd: ROOT });
    expect(lines.code).toBe(0);
    expect(
      lines.stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ', 1)[0]),
    ).toEqual(SCHEMA_NAMES);
    const { code, stdout } = await served(['schema', '--json'], { cwd: ROOT });
    expect(code).toBe(0);
    const { schemas } = JSON.parse(stdout) as {
      readonly schemas: readonly { readonly name: string; readonly title: string }[];
    };
    expect(schemas.map(({ name }) => name)).toEqual(SCHEMA_NAMES);
    for (const { name, title } of schemas) {
      expect(lines.stdout).toContain(title);
      expect(await yamlSchema(name as SchemaName)).toMatchObject({ title });
    }
  });

  test('[XU11] is in the package by its name', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly files: readonly string[];
      readonly exports: Readonly<Record<string, unknown>>;
    };
    expect(manifest.files).toContain('schema');
    expect(manifest.exports['./schema/*.json']).toBe('./schema/*.json');
  });

  test.each([
    ['dga', 'did you mean "dag"?'],
    ['nope', 'the schemas are: dag, machine, pipeline, agent, agent-toml, script'],
  ])('[XU11] says which schemas there are instead of %s', async (word, hint) => {
    const { code, stderr, stdout } = await served(['schema', word], { cwd: ROOT });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`there is no schema "${word}"`);
    expect(stderr).toContain(hint);
  });
});

describe('an editor finds the schema', () => {
  test.each(['chain', 'fan-out', 'question', 'pipeline'])(
    '[XU11] of every file that skein new --template %s writes, and finds nothing wrong',
    async (template) => {
      const cwd = await makeProject();
      await served(['new', 'mine', '--template', template], { cwd });
      const files = yamlFiles(join(cwd, 'mine'));
      expect(files).toHaveLength(2);
      for (const file of files) expect(findingsByModeline(file), file).toEqual([]);
    },
  );

  test('[XU11] of every example, and finds nothing wrong', () => {
    const files = yamlFiles(join(ROOT, 'examples'));
    expect(files.length).toBeGreaterThan(30);
    for (const file of files) expect(findingsByModeline(file), file).toEqual([]);
  });

  test('[XU11] that it finds wrong what is', async () => {
    const cwd = await makeProject();
    await served(['new', 'mine'], { cwd });
    const text = readFileSync(join(cwd, 'mine/workflow.yaml'), 'utf8');
    const wrong = join(cwd, 'mine/wrong.yaml');
    writeFileSync(wrong, text.replace('depends_on:', 'needs:'));
    expect(findingsByModeline(wrong).join()).toContain('needs');
  });
});
