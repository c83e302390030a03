/**
 * Where something stands in data: as text for people, and as the keys that lead there. Both are put together when they are asked for: most data is
 * right, and no one asks.
 * `new DataPlace('workflow').field('states').named('a b').text` gives `'workflow.states["a b"]'`.
 */
export class DataPlace {
  constructor(
    /** How the whole is called in texts; empty for none. */
    private readonly own: string,
    private readonly parent?: DataPlace,
    private readonly key?: string,
  ) {}

  /** The value of a key that the form defines. */
  field(key: string): DataPlace {
    return new DataPlace('field', this, key);
  }

  /** The value of a key that the author chose. */
  named(key: string): DataPlace {
    return new DataPlace('named', this, key);
  }

  item(index: number): DataPlace {
    return new DataPlace('item', this, String(index));
  }

  get text(): string {
    const { own, parent, key = '' } = this;
    if (parent === undefined) return own;
    const before = parent.text;
    if (own === 'field') return before === '' ? key : `${before}.${key}`;
    return own === 'named' ? `${before}[${JSON.stringify(key)}]` : `${before}[${key}]`;
  }

  get keys(): readonly string[] {
    return this.parent === undefined ? [] : [...this.parent.keys, this.key ?? ''];
  }
}
