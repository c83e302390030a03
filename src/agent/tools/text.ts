import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { badInput, refused } from './tool-input.js';

/** Largest file that is read whole, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file as UTF-8 text through its handle; a byte order mark stays.
 *
 * @throws SkeinError `SKEIN_TOOL_REFUSED` for binary files, `SKEIN_TOOL_FAILED` for files over {@link MAX_FILE_BYTES}
 */
export async function readText(handle: FileHandle, shown: string): Promise<string> {
  const bytes = await readBytes(handle, shown);
  if (bytes.includes(0) || !isUtf8(bytes)) throw refused(`${shown} is a binary file (${bytes.length} bytes)`);
  return bytes.toString('utf8');
}

/** Reads bytes up to the limit, without relying on the reported size: some files grow or report 0. */
async function readBytes(handle: FileHandle, shown: string): Promise<Buffer> {
  const { size } = await handle.stat();
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    if (total > MAX_FILE_BYTES || size > MAX_FILE_BYTES) {
      throw badInput(`${shown} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`, 'search in it with grep');
    }
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size - total, 4_096) + 1, 1024 * 1024));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
}

/**
 * Cuts a long text to its head and tail, with a note between them that states how much is missing.
 *
 * @param limit characters to keep
 */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const head = headOf(text, half);
  const tail = tailOf(text, half);
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}

/** The first `length` characters; never half a surrogate pair. */
export function headOf(text: string, length: number): string {
  return text.slice(0, isHigh(text.charCodeAt(length - 1)) && length < text.length ? length - 1 : length);
}

function tailOf(text: string, length: number): string {
  const from = text.length - length;
  return text.slice(isHigh(text.charCodeAt(from - 1)) ? from + 1 : from);
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
