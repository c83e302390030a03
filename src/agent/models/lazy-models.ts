import type { ProviderLimits } from '../../budget/pass.js';
import type { LanguageModel } from './language-model.js';
import type { Model, ModelPart, ModelRequest } from '../model.js';

/**
 * A model that is made at its first call. What fails while it is made fails the call, so that the next model of a list is tried; the next call
 * tries again, as a package may have been installed by then.
 */
export function lazyModel(id: string, structuredOutput: boolean, make: () => Promise<Model>): Model {
  let made: Promise<Model> | undefined;
  let model: Model | undefined;
  async function* first(request: ModelRequest): AsyncGenerator<ModelPart> {
    made ??= make();
    try {
      model = await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
    yield* model.stream(request);
  }
  return { id, structuredOutput, stream: (request) => (model === undefined ? first(request) : model.stream(request)) };
}

/** A model of a provider of one's own. What talks to providers is loaded when a model is first called: most starts need none of it. */
export function ownModel(id: string, make: () => Model | LanguageModel | Promise<Model | LanguageModel>): Model {
  return lazyModel(id, false, async () => {
    const [made, { fromLanguageModel, isLanguageModel }] = await Promise.all([make(), import('./language-model.js')]);
    return isLanguageModel(made) ? fromLanguageModel(made, { id }) : made;
  });
}

/**
 * A model whose calls wait for their turn at what `account` stands for, in the process: a provider, its address and the key, or a provider of one's own, which
 * needs that only with limits.
 */
export function modelInTurn(model: Model, account: string | object, limits: ProviderLimits | undefined): Model {
  if (typeof account !== 'string' && limits === undefined) return model;
  return lazyModel(model.id, model.structuredOutput === true, async () => {
    const { governed, governorOf } = await import('./governed.js');
    return governed(model, { governor: governorOf(account), limits });
  });
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

/** So many models are kept: keys and addresses may change for as long as a process lives. */
const MOST = 200;

const kept = new Map<string, Model>();

/**
 * The model with this identity, made once for all runs of the process: the objects of a provider's package are large, and they hold nothing of
 * a run. `identity` is all that a model is made from; of many, those that were not asked for longest are let go.
 */
export function keptModel(identity: string, make: () => Model): Model {
  const known = kept.get(identity);
  const model = known ?? make();
  kept.delete(identity);
  kept.set(identity, model);
  const [oldest] = kept.keys();
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
  return model;
}

/**
 * A file of answers that is opened when it is first needed. Calls that were answered from the record of a run are counted without opening
 * it for them, before whatever is asked next.
 */
export class Counted<T extends { skip(call: never): void }> {
  private opened: Promise<T> | undefined = undefined;
  private skipped: Parameters<T['skip']>[0][] = [];

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

  skip(call: Parameters<T['skip']>[0]): void {
    if (this.opened === undefined) this.skipped.push(call);
    else
      void this.opened.then(
        (file) => file.skip(call),
        () => undefined,
      );
  }
}
