import type { Tool } from '../tool.js';
import type { Folders } from './paths.js';
import { replaceFile } from './replace-file.js';
import { requiredText } from './tool-input.js';

/**
 * `write_file`: puts a text into a file, whole or not at all: the text goes to a new file beside it that then takes its name.
 * Missing directories are made, inside the working directory only. What was there before is replaced.
 */
export function writeFileCode(folders: Folders): Tool['execute'] {
  return async (input) => {
    const content = requiredText(input, 'content');
    const place = await folders.locateForWriting(requiredText(input, 'path'));
    const existed = await folders.inTurn(place, () => replaceFile(folders, place, content));
    return `${existed ? 'replaced' : 'created'} ${place.shown} (${Buffer.byteLength(content)} bytes)`;
  };
}
