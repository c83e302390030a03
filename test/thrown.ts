import { SkeinError } from '../src/base/errors.js';

/** What a call throws, which must be an error of Skein. */
export function thrown(call: () => unknown): SkeinError {
  try {
    call();
  } catch (error) {
    return asSkeinError(error);
  }
  throw new Error('nothing was thrown');
}

/** What a call throws, or its promise rejects with, which must be an error of Skein. */
export async function rejected(call: () => unknown): Promise<SkeinError> {
  try {
    await call();
  } catch (error) {
    return asSkeinError(error);
  }
  throw new Error('nothing was thrown');
}

function asSkeinError(error: unknown): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  throw error;
}
