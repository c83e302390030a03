/**
 * Files that agents wrote in a conversation that had heard something untrusted. It is kept apart from runs, so that other runs know of them too; it
 * holds until a person says otherwise.
 */
export interface WrittenFiles {
  /** Notes a file of the working directory, by its path as tools show it. It has just been written. `runs`: programs may run it. */
  note(path: string, runs: boolean): void;
  /** Whether a file is one of these: by its absolute path, where links have been followed, or by what is in it. */
  has(path: string): boolean;
  /** The same by its path alone, for a file whose name is shown. */
  hasName(path: string): boolean;
  /** Whether one that programs may run is there in the working directory. */
  planted(): boolean;
}
