/** What is wrong with a reference. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: 'warning';
}
