import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PackSkill } from '../../../src/notations/machine/skills.js';
import { readSchemas } from '../../../src/notations/machine/pack-files.js';
import { readSkills, skillsOf, usedSkills } from '../../../src/notations/machine/skills.js';
import type { Pack } from '../../../src/notations/machine/pack.js';
import { createFindings } from '../../../src/text/findings.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skills-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

const skillText = (name: string, body = `How to ${name}.`): string =>
  `---\nname: ${name}\ndescription: When ${name} is needed.\n---\n\n${body}\n`;

async function read(skills: Pack['skills']) {
  const findings = createFindings();
  const used: string[] = [];
  const at = () => ({ file: 'pack.json', line: 1, column: 1 });
  const found = await readSkills(
    { pack: { id: 'p', prompts: {}, skills: skills ?? [] }, findings, at },
    folder,
    (path) => {
      used.push(path);
    },
  );
  return {
    found,
    used,
    problems: findings.list.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
  };
}

describe('skills of a pack', () => {
  it('[42] are what stands in the pack, and each SKILL.md beneath the folders that it names', async () => {
    await put('skills/billing/refunds/SKILL.md', skillText('refunds'));
    await put('skills/billing/invoices/SKILL.md', skillText('invoices'));
    await put('house/SKILL.md', skillText('house-rules'));
    const inline = { name: 'escalation', description: 'When nothing helps.', instructions: 'Call Ada.' };
    const { found, used, problems } = await read(['./skills', { path: 'house', preload: true }, inline]);
    expect(problems).toEqual([]);
    expect(found).toEqual([
      {
        name: 'invoices',
        description: 'When invoices is needed.',
        text: 'How to invoices.\n',
        folder: 'skills/billing/invoices',
        preload: false,
      },
      {
        name: 'refunds',
        description: 'When refunds is needed.',
        text: 'How to refunds.\n',
        folder: 'skills/billing/refunds',
        preload: false,
      },
      {
        name: 'house-rules',
        description: 'When house-rules is needed.',
        text: 'How to house-rules.\n',
        folder: 'house',
        preload: true,
      },
      { name: 'escalation', description: 'When nothing helps.', text: 'Call Ada.', preload: false },
    ]);
    expect(used).toHaveLength(3);
  });

  it('[42] the first of two with a name counts', async () => {
    await put('a/SKILL.md', skillText('same', 'first'));
    await put('b/SKILL.md', skillText('same', 'second'));
    const { found, problems } = await read(['a', 'b']);
    expect([found.map(({ text }) => text), problems]).toEqual([
      ['first\n'],
      ['warning duplicate-skill: there are two skills "same": the first one counts'],
    ]);
  });

  it('[A12] nothing outside of the folder of the pack is read, also not by a link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    try {
      await writeFile(join(outside, 'SKILL.md'), skillText('secret'));
      await symlink(outside, join(folder, 'link'));
      await put('inner/SKILL.md', skillText('fine'));
      await symlink(outside, join(folder, 'inner', 'link'));
      const { found, problems } = await read(['link', 'inner']);
      expect([found.map(({ name }) => name), problems]).toEqual([
        ['fine'],
        ['error file-missing: the skill "link" lies outside of the folder'],
      ]);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it.each([
    ['no front matter', 'error skill-form: the skill s/SKILL.md has no name of lower-case words, or no description'],
    [
      '---\nname: Loud\ndescription: x\n---\n',
      'error skill-form: the skill s/SKILL.md has no name of lower-case words, or no description',
    ],
    ['---\nname: open\n', 'error front-matter: the front matter is not closed'],
  ])('a skill that begins with %j is a problem', async (text, problem) => {
    await put('s/SKILL.md', text);
    expect((await read(['s'])).problems).toContain(problem);
  });

  it('a folder that is not there or has no skills is a problem', async () => {
    await mkdir(join(folder, 'empty'));
    expect((await read(['gone', 'empty'])).problems).toEqual([
      'error file-missing: the skill "gone" does not exist',
      'error no-skill: there is no SKILL.md in "empty"',
    ]);
  });
});

const skill = (name: string, place?: string, preload = false): PackSkill => {
  return {
    name,
    description: `about ${name}`,
    text: `text of ${name}`,
    preload,
    ...(place === undefined ? {} : { folder: place }),
  };
};

describe('what a state has of them', () => {
  const all = [skill('refunds', 'skills/billing/refunds'), skill('returns', 'skills/orders/returns'), skill('own')];
  const names = (filter?: string) => skillsOf(filter, all).map(({ name }) => name);

  it.each([
    [undefined, ['refunds', 'returns', 'own']],
    ['none', []],
    ['skills', ['refunds', 'returns']],
    ['./skills/billing/', ['refunds']],
    ['skills/*/returns', ['returns']],
    ['skills/**', ['refunds', 'returns']],
    ['skills/bill', []],
    ['skills.billing', []],
  ])('[42] the filter %j gives %j', (filter, expected) => {
    expect(names(filter)).toEqual(expected);
  });

  it('[A12] the tool lists name and description, and gives the text; skills from the start are no part of it', () => {
    const { texts, tool, activate } = usedSkills([skill('refunds', 'a'), skill('rules', 'b', true)]);
    expect(texts).toEqual([{ name: 'rules', text: 'text of rules' }]);
    expect(tool).toMatchObject({
      name: 'skill__activate',
      description: expect.stringContaining('- refunds: about refunds') as string,
    });
    expect(tool?.input).toMatchObject({ properties: { name: { enum: ['refunds'] } } });
    expect(activate({ name: 'refunds' })).toBe('text of refunds');
    expect(usedSkills([]).tool).toBeUndefined();
  });
});

it('[44] schemas of compositions are files beneath the folder of the pack', async () => {
  await put('schemas/type.json', '{"type":"object"}');
  await put('schemas/broken.json', '{"type":');
  const findings = createFindings();
  const at = () => ({ file: 'pack.json', line: 1, column: 1 });
  const step = (id: string, output_schema: string) => ({ id, kind: 'prompt', prompt_task: 'p', output_schema });
  const steps = [
    step('a', './schemas/type.json'),
    step('b', '../x.json'),
    step('c', 'schemas'),
    step('d', 'schemas/broken.json'),
  ];
  const found = await readSchemas(
    { pack: { id: 'p', prompts: {}, compositions: { c: { steps } } }, findings, at },
    folder,
    () => undefined,
  );
  expect([...found]).toEqual([['./schemas/type.json', { type: 'object' }]]);
  expect(findings.list.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'file-missing: the schema "../x.json" does not exist',
    'file-missing: the schema "schemas" is not a file',
    expect.stringMatching(/^json/),
  ]);
});
