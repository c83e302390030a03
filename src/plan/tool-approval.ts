/** Known again across copies of this module. */
const APPROVE = Symbol.for('skein.approve');

/** The function of a tool, with the one that says which of its calls a person must allow. */
export function withApproval<F extends object>(call: F, approve: unknown): F {
  return typeof approve === 'function' ? Object.defineProperty(call, APPROVE, { value: approve }) : call;
}

/** Whether a person must allow a call with this input. Whatever the function says but a clear no is a yes. */
export async function mustApprove(call: unknown, input: unknown): Promise<boolean> {
  const approve = (call as { readonly [APPROVE]?: (input: unknown) => unknown })[APPROVE];
  return (await approve?.(input)) !== false;
}
