const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text as it was read, and where it can't be. */
export interface ReadText {
  /** With U+FFFD in place of bytes that are no text. */
  readonly text: string;
  /** Offset of the first byte that is not UTF-8. */
  readonly badAt?: number;
}

/**
 * Reads the bytes of a text. Drivers are not trusted with that: one ends the process, another one puts U+FFFD in place of what it can't
 * read and says nothing, a third stops at a NUL.
 *
 * @example
 * readText(Buffer.from('looms')); // { text: 'looms' }
 */
export function readText(bytes: Uint8Array): ReadText {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    const text = lenient.decode(bytes);
    const written = Buffer.from(text);
    const badAt = written.findIndex((byte, at) => byte !== bytes[at]);
    return { text, badAt: badAt === -1 ? Math.min(written.length, bytes.length) : badAt };
  }
}
