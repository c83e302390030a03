type Data = Readonly<Record<string, unknown>>;

/** A pack as data: prompts by name (a text, or what is given in addition), and states. */
export function packData(prompts: Readonly<Record<string, string | Data>>, states?: Data, more: Data = {}): Data {
  const full = Object.entries(prompts).map(([id, prompt]): [string, Data] => {
    const own = typeof prompt === 'string' ? { system_template: prompt } : prompt;
    return [id, { id, name: id, version: '1.0.0', system_template: `You are ${id}.`, ...own }];
  });
  const [entry] = Object.keys(states ?? {});
  return {
    id: 'desk',
    name: 'Desk',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: Object.fromEntries(full),
    ...(states === undefined ? {} : { workflow: { version: 2, entry, states } }),
    ...more,
  };
}

/** The same as the text of a file. */
export function packText(...parts: Parameters<typeof packData>): string {
  return JSON.stringify(packData(...parts), undefined, 2);
}
