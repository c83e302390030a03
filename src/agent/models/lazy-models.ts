import type { ProviderLimits } from '../../budget/pass.js';
import type { LanguageModel } from './language-model.js';
import type { Model, ModelPart, ModelRequest } from '../model.js';

/** A model that is made at its first call. If that fails, the next call tries again: a package may be installed by then. */
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

/** A model of a custom provider. The code that talks to providers loads at the first call: most starts do not need it. */
export function ownModel(id: string, make: () => Model | LanguageModel | Promise<Model | LanguageModel>): Model {
  return lazyModel(id, false, async () => {
    const [made, { fromLanguageModel, isLanguageModel }] = await Promise.all([make(), import('./language-model.js')]);
    return isLanguageModel(made) ? fromLanguageModel(made, { id }) : made;
  });
}

/** A model whose calls wait for their turn in this process, with all those of the same `account`. */
export function modelInTurn(model: Model, account: string | object, limits: ProviderLimits | undefined): Model {
  if (typeof account !== 'string' && limits === undefined) return model;
  return lazyModel(model.id, model.structuredOutput === true, async () => {
    const { governed, governorOf } = await import('./governed.js');
    return governed(model, { governor: governorOf(account), limits });
  });
}

/** A model that cannot be used: each call throws the error. */
export function unusableModel(id: string, error: Error): Model {
  return {
    id,
    stream: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
    }),
  };
}

/** Most models to keep: keys and addresses may change throughout the life of a process. */
const MOST = 200;

const kept = new Map<string, Model>();

/**
 * Returns the model with this identity, made once for all runs of the process: the objects of a provider's package are large, and hold
 * nothing of a run. `identity` covers everything that a model is made from; the least recently used models are dropped.
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

/** A file of answers that is opened when first needed. Calls that were answered from the record are skipped in it. */
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
