/** Files and folders that tools leave alone, as absolute paths. They need not exist yet. */
export interface OwnPlaces {
  /** The record of runs: the store, folders of run folders, recordings. Tools neither see nor write them. */
  readonly record: readonly string[];
  /** What runs are made of: workflow files, agents, skills, scripts, modules. Tools don't write them. */
  readonly definition: readonly string[];
}

/** For tools of a program that records nothing and was read from no file. */
export const NO_PLACES: OwnPlaces = { record: [], definition: [] };
