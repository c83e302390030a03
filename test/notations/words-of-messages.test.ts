import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { loadWorkflowText } from '../../src/yaml.js';
import { compiler } from '../compiler.js';

const SRC = join(import.meta.dirname, '../../src');
const FOLDERS = ['notations/dag', 'notations/pipeline', 'text'];

/** Words with a capital in the middle that stand in files, and not in ours alone. */
const OF_FILES = new Set([
  'permissionMode',
  'dontAsk',
  'acceptEdits',
  'bypassPermissions',
  'disallowedTools',
  'mcpServers',
]);

/** The prose in a source text: literals with a space in them, without what is put into them. */
function proseIn(source: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = compiler.isStringLiteral(node) || compiler.isTemplateLiteralToken(node);
    if (isText && node.text.includes(' ')) found.push(node.text);
    compiler.forEachChild(node, visit);
  };
  visit(compiler.createSourceFile('x.ts', source, compiler.ScriptTarget.Latest));
  return found;
}

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    // Scripts answer graphs, too, which have nodes.
    .filter((name) => name.endsWith('.ts') && name !== 'script-keys.ts')
    .map((name) => join(folder, name)),
);

describe('messages of the notations in YAML', () => {
  it.each(sources)('[XP9] %s has words of files only, and none of the code', (name) => {
    const internal = proseIn(readFileSync(join(SRC, name), 'utf8')).flatMap((text) => {
      const words = text.match(/\b[a-z]+[A-Z][A-Za-z]*\b|\bundefined\b|\bchannel\b|\bnode\b/g) ?? [];
      return words.filter((word) => !OF_FILES.has(word)).map((word) => `${word} in ${text}`);
    });
    expect(internal).toEqual([]);
  });

  it.each([
    [
      'pipeline',
      'agents: { a: { instruction: x } }\nworkflow:\n  - { id: m, type: map, over: $prompt, max_items: 2, steps: [{ type: agent, name: b, prompt: "{{ $steps.z.output }}" }] }\n',
    ],
    [
      'DAG',
      'name: f\nagents: { a: { inline: { prompt: x } } }\nsteps: [{ id: a, agent: b, prompt: "{{steps.z.output}}", timeout: x, retry_count: -1, on_error: y }]\n',
    ],
  ])('[XP9] problems of a %s file name nothing that only the code has', async (_, text) => {
    const { problems } = await loadWorkflowText(text, { cwd: '/nowhere' });
    expect(problems.length).toBeGreaterThan(1);
    const all = problems.map(({ message, hint }) => `${message} ${hint ?? ''}`).join('\n');
    expect(all).not.toMatch(/max[A-Z]|onError|undefined|\[object|items\.m|steps\[0\]\.agent/);
  });
});
