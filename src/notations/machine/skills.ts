import { posix } from 'node:path';
import { isPlainObject } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { FunctionTool, SkillText } from '../../plan/agent-spec.js';
import { madeOf } from '../../plan/made-of.js';
import { filesBeneath, readText, reportUnread } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import { openFrontMatter } from '../../text/front-matter.js';
import { reportNoFolder, type Pack, type PlacedPack } from './pack.js';

export interface PackSkill {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** Folder of its file, relative to the pack's folder, with `/`. Undefined for a skill defined in the pack. */
  readonly folder?: string;
  /** True if states that may use the skill have it from the start. */
  readonly preload: boolean;
}

export const SKILL_TOOL = 'skill__activate';

const SKILL_FILE = 'SKILL.md';
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Reads a pack's skills: those in it, and each `SKILL.md` beneath the folders it names. Of several with one name, the first counts. */
export async function readSkills(
  { pack: { skills = [] }, findings, at }: PlacedPack,
  folder: string | undefined,
  use: (path: string, text: string) => void,
): Promise<readonly PackSkill[]> {
  const found = new Map<string, PackSkill>();
  const take = (skill: PackSkill, place: Position): void => {
    if (!found.has(skill.name)) found.set(skill.name, skill);
    else
      findings.warning(
        'duplicate-skill',
        `there are two skills ${quoteShort(skill.name)}: the first one counts`,
        place,
      );
  };
  for (const [index, source] of skills.entries()) {
    const place = at('skills', String(index));
    const inline = inlineSkill(source);
    if (inline !== undefined) take(inline, place);
    const { path, preload } = typeof source === 'string' ? { path: source, preload: false } : pathOf(source);
    if (path === undefined) continue;
    if (folder === undefined) {
      reportNoFolder(findings, `skills[${index}]: ${quoteShort(path)}`, place);
      continue;
    }
    const files = await filesBeneath(folder, path, SKILL_FILE);
    if (!files.ok) reportUnread(files, `the skill ${quoteShort(path)}`, place, findings);
    else if (files.names.length === 0)
      findings.error(
        'no-skill',
        `there is no ${SKILL_FILE} in ${quoteShort(path)}`,
        place,
        'a skill is a folder with such a file',
      );
    else {
      for (const name of files.names) {
        const skill = await readSkill(folder, name, { preload, findings, use });
        if (skill !== undefined) take(skill, place);
      }
    }
  }
  return [...found.values()];
}

type Source = NonNullable<Pack['skills']>[number];

function inlineSkill(source: Source): PackSkill | undefined {
  if (!isPlainObject(source)) return undefined;
  const { name, description, instructions } = source;
  if (typeof name !== 'string' || typeof description !== 'string' || typeof instructions !== 'string') return undefined;
  return { name, description, text: instructions, preload: false };
}

function pathOf(source: Exclude<Source, string>): { readonly path: string | undefined; readonly preload: boolean } {
  return { path: source.path, preload: source.preload === true };
}

interface Reading {
  readonly preload: boolean;
  readonly findings: Findings;
  readonly use: (path: string, text: string) => void;
}

async function readSkill(
  folder: string,
  name: string,
  { preload, findings, use }: Reading,
): Promise<PackSkill | undefined> {
  const path = posix.join(folder, name);
  const at = { file: name, line: 1, column: 1 };
  const read = await readText(path);
  if (!read.ok) {
    reportUnread(read, `the skill ${name}`, at, findings);
    return undefined;
  }
  use(path, read.text);
  const { fields, body } = openFrontMatter(read.text, name, findings);
  const skill = { name: fields?.text('name') ?? '', description: fields?.text('description') ?? '' };
  if (NAME.test(skill.name) && skill.description !== '')
    return { ...skill, text: body, folder: posix.dirname(name), preload };
  const hint = 'it begins with ---, name: such-as-this, description: WHEN TO USE IT, ---';
  findings.error('skill-form', `the skill ${name} has no name of lower-case words, or no description`, at, hint);
  return undefined;
}

/** Returns the skills that a state may use: all, those of a folder, those whose folders match a pattern, or none. */
export function skillsOf(filter: string | undefined, skills: readonly PackSkill[]): readonly PackSkill[] {
  if (filter === undefined || filter === '') return skills;
  if (filter === 'none') return [];
  const plain = posix.normalize(filter).replace(/\/$/, '');
  const pattern = plain
    .split(/(\*\*|\*)/)
    .map((part) => WILD[part] ?? part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  const matches = new RegExp(`^${pattern.join('')}(?:/.*)?$`);
  return skills.filter(({ folder }) => folder !== undefined && matches.test(posix.normalize(folder)));
}

const WILD: Readonly<Record<string, string>> = { '*': '[^/]*', '**': '.*' };

/** The skills of a state's agent: texts from the start, and a tool for the others. */
export interface UsedSkills {
  readonly texts: readonly SkillText[];
  readonly tool?: FunctionTool;
  readonly activate: (input: { readonly name: string }) => string;
}

/** Builds the skills of an agent. The tool lists names and descriptions; a requested text stays in the conversation. */
export function usedSkills(skills: readonly PackSkill[]): UsedSkills {
  const texts = skills.filter(({ preload }) => preload).map(({ name, text }) => ({ name, text }));
  const others = skills.filter(({ preload }) => !preload);
  const activate = madeOf(
    ({ name }: { readonly name: string }): string => others.find((one) => one.name === name)?.text ?? '',
    others.map(({ text }) => text),
  );
  if (others.length === 0) return { texts, activate };
  const list = others.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  const names = others.map(({ name }) => name);
  return {
    texts,
    activate,
    tool: {
      name: SKILL_TOOL,
      description: `Gives the instructions of a skill. Call it before you do what a skill is for.\n${list}`,
      input: {
        type: 'object',
        properties: { name: { type: 'string', enum: names, description: 'The skill.' } },
        required: ['name'],
        additionalProperties: false,
      },
      effect: 'read',
      trust: 'trusted',
    },
  };
}
