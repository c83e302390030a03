import type { Tool } from '../tool.js';
import type { Folders } from './paths.js';
import { replaceFile } from './replace-file.js';
import { requiredText } from './tool-input.js';

/**
 * `write_file`: puts a text into a file, whole or not at all: the text goes to a new file beside it that then takes its name.
 * Missing directories are made, inside the working directory only. What was there before is replaced.
 */
export function writeFileTool(name: string, folders: Folders): Tool {
  return {
    name,
    description:
      'Writes a text file inside the working directory. An existing file is replaced; missing directories are made.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file, relative to the working directory.' },
        content: { type: 'string', description: 'The whole text of the file.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    effect: 'idempotent',
    trust: 'trusted',
    async execute(input) {
      const content = requiredText(input, 'content');
      const place = await folders.locateForWriting(requiredText(input, 'path'));
      const existed = await folders.inTurn(place, () => replaceFile(folders, place, content));
      return `${existed ? 'replaced' : 'created'} ${place.shown} (${Buffer.byteLength(content)} bytes)`;
    },
  };
}
