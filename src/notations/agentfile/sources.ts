import { basename, extname, isAbsolute, join, normalize } from 'node:path';
import { suggest } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import { listNames, placeBeneath, reportUnread } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import { openFrontMatter } from '../../text/front-matter.js';
import type { SourceNode } from '../../text/nodes.js';
import type { Workspace } from '../opened-file.js';
import type { Written } from './statements.js';

const SKILL_FILE = 'SKILL.md';

/** The content that `FROM` names: a prompt in Markdown, or a skill. */
export interface Source {
  readonly text: string;
  /** Undefined for a prompt, in which `$name`s are references. */
  readonly skill?: {
    readonly name: string;
    readonly description: string;
    /** Undefined: all available tools. */
    readonly allowed: readonly string[] | undefined;
    /** The skill's folder, and the other entries in it. */
    readonly folder: string;
    readonly parts: readonly string[];
  };
}

/**
 * Reads the source that `FROM` names: a path beneath the folder of the Agentfile, or a bare name, which is also searched for in the skill
 * folders, in order. Links out of these folders are not followed. Problem codes: `from-outside`, `from-kind`, `skill-form`, `file-...`.
 */
export async function readSource(
  from: Written,
  roots: readonly string[],
  workspace: Workspace,
  findings: Findings,
): Promise<Source | undefined> {
  const { text: written, at } = from;
  if (isAbsolute(written) || written.startsWith('~') || /^\.\.(?:[\\/]|$)/.test(normalize(written))) {
    const hint = 'put the file into the folder of the Agentfile';
    findings.error('from-outside', `${quoteShort(written)} lies outside of the folder of the file`, at, hint);
    return undefined;
  }
  const here = await placeBeneath(workspace.base, written);
  if (here.ok && here.isFolder) return await readSkill(here.path, from, workspace, findings);
  if (here.ok || extname(written) !== '') return await readPrompt(from, workspace, findings);
  if (here.failure !== 'missing' || here.message.includes('outside') || /[\\/]/.test(written)) {
    reportUnread(await withNear(here, from, workspace), `FROM ${written}`, at, findings);
    return undefined;
  }
  for (const root of roots) {
    const found = await placeBeneath(root, written);
    if (found.ok && found.isFolder) return await readSkill(found.path, from, workspace, findings);
  }
  const looked = ['.', ...roots.map((root) => workspace.shown(root))].join(', ');
  findings.error(
    'file-missing',
    `there is no skill ${quoteShort(written)}`,
    at,
    `looked for a folder of that name in ${looked}`,
  );
  return undefined;
}

async function readPrompt(from: Written, workspace: Workspace, findings: Findings): Promise<Source | undefined> {
  const { text: written, at } = from;
  const extension = extname(written);
  if (extension !== '.md') {
    const isAgent = extension === '.agent' || basename(written) === 'Agentfile';
    const hint = isAgent
      ? 'write its prompt into a file such as agents/critic.md'
      : 'rename it so that it ends with .md';
    const what = isAgent ? 'an Agentfile' : 'not a prompt in Markdown or a skill';
    findings.error('from-kind', `${quoteShort(written)} is ${what}: FROM can't use it`, at, hint);
    return undefined;
  }
  const place = await placeBeneath(workspace.base, written);
  const read = place.ok ? await workspace.read(place.path) : place;
  if (!read.ok || !place.ok) {
    if (!read.ok) reportUnread(await withNear(read, from, workspace), `the prompt ${written}`, at, findings);
    return undefined;
  }
  workspace.use(place.path, read.text);
  return {
    text: read.text
      .replace(/^\uFEFF/, '')
      .replaceAll('\r\n', '\n')
      .trim(),
  };
}

/** Adds a hint to a missing file: the name in its folder that was most likely meant. */
async function withNear<T extends { readonly failure: string; readonly hint?: string }>(
  unread: T,
  { text }: Written,
  { base }: Workspace,
): Promise<T> {
  if (unread.failure !== 'missing') return unread;
  const path = normalize(text);
  const folder = join(path, '..');
  // The folder may be a link to a place outside.
  const place = await placeBeneath(base, folder);
  const near = place.ok ? suggest(basename(path), await listNames(place.path)) : undefined;
  return near === undefined ? unread : { ...unread, hint: `did you mean ${join(folder, near)}?` };
}

async function readSkill(
  folder: string,
  { text: written, at }: Written,
  workspace: Workspace,
  findings: Findings,
): Promise<Source | undefined> {
  const path = join(folder, SKILL_FILE);
  const place = await placeBeneath(folder, SKILL_FILE);
  const read = place.ok ? await workspace.read(place.path) : place;
  if (!read.ok) {
    const hint = 'a skill is a folder with a file SKILL.md';
    reportUnread({ ...read, hint }, `${SKILL_FILE} of ${quoteShort(written)}`, at, findings);
    return undefined;
  }
  workspace.use(path, read.text);
  const { fields, body } = openFrontMatter(read.text, workspace.shown(path), findings);
  const [name, description] = [fields?.text('name')?.trim() ?? '', fields?.text('description')?.trim() ?? ''];
  if (name === '' || description === '') {
    const hint = 'it begins with ---, name: NAME, description: WHEN TO USE IT, ---';
    const start = { file: workspace.shown(path), line: 1, column: 1 };
    findings.error('skill-form', `the skill ${quoteShort(written)} needs a name and a description`, start, hint);
    return undefined;
  }
  const inside = await listNames(folder);
  const parts = ['scripts', 'references'].filter((part) => inside.includes(part));
  const allowed = allowedTools(fields?.node('allowed-tools'));
  const text = `${description}\n\n${body.trim()}`;
  return { text, skill: { name, description, allowed, folder: workspace.shown(folder), parts } };
}

/** Reads a list, or a text of names separated by blanks or commas. A rule in parentheses belongs to the name before it. */
function allowedTools(node: SourceNode | undefined): readonly string[] | undefined {
  if (node === undefined || node.kind === 'map') return undefined;
  if (node.kind === 'list') return node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : []));
  return node.text.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
}

/** Returns the text that tells an agent where the files beside its skill are. */
export function skillContext({ skill }: Source): string | undefined {
  if (skill === undefined || skill.parts.length === 0) return undefined;
  const places = skill.parts.map((part) => `${part} in ${skill.folder}/${part}`);
  return `The skill ${skill.name} has ${places.join(', and ')}.`;
}
