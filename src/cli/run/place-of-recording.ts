import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SkeinError } from '../../base/errors.js';

/** A recording is written at the end of the run, so its place is checked before: it replaces nothing but an earlier recording. */
export async function checkPlaceOfRecording(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory() === true) throw refused(`${file}, where the recording goes, is a directory`);
  if (there !== undefined && !(there.isFile() && (await canBeReplaced(file)))) {
    throw refused(`${file}, where the recording goes, is there already and is not a recording`);
  }
  const folder = dirname(file);
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    const hint = 'make the folder, or record into another one';
    throw new SkeinError('SKEIN_FILE', `${folder}, where the recording goes, can't be written to`, { hint, cause });
  }
}

async function canBeReplaced(file: string): Promise<boolean> {
  const { startOfRecording } = await import('../../running.js');
  const opened = await open(file).catch(() => undefined);
  if (opened === undefined) return false;
  try {
    const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(startOfRecording.length) });
    return bytesRead === 0 || buffer.toString() === startOfRecording;
  } finally {
    await opened.close();
  }
}

function refused(message: string): SkeinError {
  return new SkeinError('SKEIN_FILE', message, { hint: 'name another file' });
}
