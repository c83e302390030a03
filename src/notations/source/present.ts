/** A record without the keys whose value may be undefined, which become optional. */
export type Present<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Leaves out the keys whose value is undefined, so that plan data is plain JSON and optional keys are absent.
 *
 * @example
 * present({ id: 'scan', label: undefined }); // { id: 'scan' }
 */
export function present<T extends object>(record: T): Present<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Present<T>;
}
