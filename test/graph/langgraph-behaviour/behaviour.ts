/** The features of LangGraph.js that the table covers. */
export const FEATURES = [
  'conversation',
  'updateState',
  'getState().next',
  'Command.PARENT',
  'Send with own state',
  'conditional start',
  'shared keys',
  'private state and output schema',
  'stream modes',
  'recursion limit',
  'error handler',
  'retryOn',
  'functional API',
  'interrupt',
  'interrupt in tools',
  'time travel',
  'joins and reducers',
  'cancellation',
  'durability',
] as const;

/** A behaviour that LangGraph.js publishes a test of, and what Skein does in the same place. */
export interface Behaviour {
  readonly feature: (typeof FEATURES)[number];
  /** The published test: its file in `libs/langgraph-core/src/tests/` of LangGraph.js, and a few words on which of them it is. */
  readonly from: string;
  /** What it is about. */
  readonly what: string;
  /** Whether Skein does the same, or what it does instead and why. */
  readonly verdict: 'same' | { readonly differs: string };
  run(): Promise<unknown>;
  /** What {@link run} gives here. */
  readonly gives: unknown;
}

/** What it throws, as `CODE`; undefined when it does not. */
export function codeOf(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

/** A function that fails, with this message. */
export const boom = (text: string) => (): never => {
  throw new Error(text);
};
