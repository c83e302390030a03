/** Values by channel, by the path of the step whose writes they stand for. */
export type StateEdits = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
