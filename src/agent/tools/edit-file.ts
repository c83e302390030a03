import { isPlainObject, ownValue, type JsonObject } from '../../base/json.js';
import type { Tool } from '../tool.js';
import type { Folders } from './paths.js';
import { countText } from '../../base/text.js';
import { readText } from './text.js';
import { MAX_WRITE_CHARS, replaceFile, type Unchanged } from './write-file.js';
import { badInput, flag, requiredText } from './tool-input.js';

interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** `edit_file`: replaces exact texts in a file, all or none. Text with LF line ends also matches a file with CRLF. */
export function editFileCode(folders: Folders): Tool['execute'] {
  return async (input, { files }) => {
    const edits = editsOf(input);
    const place = await folders.locateForWriting(requiredText(input, 'path'));
    return folders.inTurn(place, async () => {
      const handle = await folders.openFile(place);
      let text: string;
      let expected: Unchanged;
      try {
        expected = await handle.stat();
        text = await readText(handle, place.shown);
      } finally {
        await handle.close();
      }
      let count = 0;
      for (const [i, edit] of edits.entries()) {
        const done = apply(text, edit, edits.length === 1 ? place.shown : `${place.shown}, edit ${i + 1}`);
        text = done.text;
        count += done.count;
      }
      await replaceFile(folders, place, text, { expected, files });
      return `edited ${place.shown}: ${countText(count, 'replacement')}`;
    });
  };
}

function editsOf(input: JsonObject): readonly Edit[] {
  const list = ownValue(input, 'edits') ?? undefined;
  if (list === undefined) return [editOf(input)];
  if (ownValue(input, 'old_text') !== undefined) throw badInput('give either old_text or edits, not both');
  if (!Array.isArray(list) || list.length === 0) throw badInput('"edits" must be a list with at least one edit');
  return list.map((item: unknown) => {
    if (!isPlainObject(item)) throw badInput('each edit must be an object with old_text and new_text');
    return editOf(item as JsonObject);
  });
}

function editOf(input: JsonObject): Edit {
  const edit = {
    oldText: requiredText(input, 'old_text'),
    newText: requiredText(input, 'new_text'),
    all: flag(input, 'replace_all'),
  };
  if (edit.oldText === '') throw badInput('old_text is empty', 'use write_file to make a new file');
  if (edit.oldText === edit.newText) throw badInput('old_text and new_text are the same');
  return edit;
}

function apply(text: string, edit: Edit, where: string): { text: string; count: number } {
  const { oldText, newText } = fitLineEnds(text, edit);
  const pieces = text.split(oldText);
  const count = pieces.length - 1;
  if (count === 0) {
    throw badInput(`${where}: old_text was not found`, 'read the file and copy the text exactly, with its white space');
  }
  // Overlapping occurrences are ambiguous too.
  if (text.indexOf(oldText) !== text.lastIndexOf(oldText) && !edit.all) {
    throw badInput(
      `${where}: old_text occurs more than once`,
      'add lines around it until it is unique, or set replace_all',
    );
  }
  const length = text.length + count * (newText.length - oldText.length);
  if (length > MAX_WRITE_CHARS) throw badInput(`${where}: the file would become too large`);
  return { text: pieces.join(newText), count };
}

function fitLineEnds(text: string, edit: Edit): { oldText: string; newText: string } {
  const plain = !edit.oldText.includes('\r') && edit.oldText.includes('\n');
  if (!plain || !text.includes('\r\n') || text.includes(edit.oldText)) return edit;
  return { oldText: edit.oldText.replaceAll('\n', '\r\n'), newText: edit.newText.replace(/\r?\n/g, '\r\n') };
}
