import type { Model, ModelPart } from '../model.js';

/**
 * A model that is made at its first call. What fails while it is made fails the call, so that the next model of a list is tried; the next call
 * tries again, as a package may have been installed by then.
 */
export function lazyModel(id: string, structuredOutput: boolean, make: () => Promise<Model>): Model {
  let made: Promise<Model> | undefined;
  return {
    id,
    structuredOutput,
    async *stream(request): AsyncGenerator<ModelPart> {
      made ??= make();
      let model: Model;
      try {
        model = await made;
      } catch (error) {
        made = undefined;
        throw error;
      }
      yield* model.stream(request);
    },
  };
}

/** A model that can't be used: each call throws the error. */
export function unusableModel(id: string, error: Error): Model {
  return {
    id,
    stream: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
    }),
  };
}
