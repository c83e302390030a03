import { expect, test } from 'vitest';
import { openPack, validatePack } from '../../src/machine.js';
import { rejected } from '../thrown.js';

test.each(['./desk.pack.json', 'packs/my desk.yaml', ' C:\\packs\\desk.YML\n'])(
  'the name of a file %j in place of its text: says so, and how to read it',
  async (name) => {
    const problems = validatePack(name);
    expect(problems.map(({ code }) => code)).toEqual(['not-a-text']);
    const error = await rejected(() => openPack(name));
    expect(error.code).toBe('SKEIN_DEFINITION');
    expect(error.message).toContain('this is the name of a file, not the text of a pack');
    expect(error.message).not.toContain('JSON must');
    expect(problems[0]?.hint).toBe("give the text: await readFile(FILE, 'utf8'), or the data in it");
  },
);

test.each([undefined, null, 7, () => 'pack'])('%j in place of a pack: says what it takes', async (given) => {
  const error = await rejected(() => openPack(given as never));
  expect(error.code).toBe('SKEIN_USAGE');
  expect(error.message).toMatch(/^a pack is a text or an object, not /);
  expect(error.hint).toContain('give the text of its file');
});

test.each(['{"id": "a.json"', 'id: a.json', '- a.json'])('%j is a text', (text) => {
  expect(validatePack(text, { file: 'pack.yaml' }).map(({ code }) => code)).not.toContain('not-a-text');
});
