import type { ReplayedCall } from '../model.js';

/** Something that counts the calls that it answers. */
export interface CountsCalls {
  /** A call was answered from the record of the run instead. */
  skip(call: ReplayedCall): void;
}

/**
 * A file of answers that is opened when it is first needed. Calls that were answered from the record of a run are counted without opening
 * it for them, before whatever is asked next.
 */
export class Counted<T extends CountsCalls> {
  private opened: Promise<T> | undefined = undefined;
  private skipped: ReplayedCall[] = [];

  constructor(private readonly load: () => Promise<T>) {}

  get isOpen(): boolean {
    return this.opened !== undefined;
  }

  open(): Promise<T> {
    this.opened ??= this.load().then((file) => {
      for (const call of this.skipped) file.skip(call);
      this.skipped = [];
      return file;
    });
    return this.opened;
  }

  skip(call: ReplayedCall): void {
    if (this.opened === undefined) this.skipped.push(call);
    else
      void this.opened.then(
        (file) => file.skip(call),
        () => undefined,
      );
  }
}
