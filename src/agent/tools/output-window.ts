import type { Readable } from 'node:stream';

/** Keeps the beginning and the end of a stream and counts the rest, so that a program may print without limit. */
export class OutputWindow {
  private head: Buffer[] = [];
  private headBytes = 0;
  private tail: Buffer[] = [];
  private tailBytes = 0;
  private total = 0;
  private readonly half: number;

  /** @param limit bytes to keep */
  constructor(limit: number) {
    this.half = Math.floor(limit / 2);
  }

  /** Reads a stream until it closes; resolves when it is closed, whether it ended or was cut. */
  follow(stream: Readable | null): Promise<void> {
    if (stream === null) return Promise.resolve();
    stream.on('data', (chunk: Buffer) => this.add(chunk));
    stream.on('error', () => undefined);
    return new Promise((resolve) => {
      stream.once('close', resolve);
    });
  }

  add(chunk: Buffer): void {
    this.total += chunk.length;
    const room = this.half - this.headBytes;
    if (room > 0) {
      const first = chunk.subarray(0, room);
      this.head.push(first);
      this.headBytes += first.length;
    }
    const rest = chunk.subarray(Math.max(room, 0));
    if (rest.length === 0) return;
    this.tail.push(rest);
    this.tailBytes += rest.length;
    for (
      let first = this.tail[0];
      first !== undefined && this.tailBytes - first.length >= this.half;
      first = this.tail[0]
    ) {
      this.tail.shift();
      this.tailBytes -= first.length;
    }
  }

  /** Number of dropped bytes. */
  get missing(): number {
    return Math.max(0, this.total - 2 * this.half);
  }

  /** The text, with a note in place of dropped bytes. Bytes that are not UTF-8 become replacement characters. */
  text(): string {
    const end = Buffer.concat(this.tail);
    const tail = end.subarray(Math.max(0, end.length - this.half));
    const missing = this.total - this.headBytes - tail.length;
    const head = Buffer.concat(this.head);
    if (missing === 0) return Buffer.concat([head, tail]).toString('utf8');
    return `${head.toString('utf8')}\n[... ${missing} bytes left out ...]\n${tail.toString('utf8')}`;
  }
}
