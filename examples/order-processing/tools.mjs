/** What articles cost, in euros, and how many are there. */
const ARTICLES = new Map([
  ['shuttle', { euros: 12, stock: 40 }],
  ['loom', { euros: 480, stock: 2 }],
]);

/** It does nothing but read, and what it gives is the shop's own: no one else influences what is charged. */
export const price_of = {
  name: 'price_of',
  inputSchema: { type: 'object' },
  effect: 'read',
  trust: 'trusted',
  /** @param {{ article: string }} input */
  execute: ({ article }) => ARTICLES.get(article) ?? { error: 'there is no such article' },
};

/** @param {{ euros: number }} input */
export function charge({ euros }) {
  return { receipt: `R-${Math.round(euros)}` };
}

/** A person must allow a charge above 100 euros. */
export const approve = {
  /** @param {{ euros: number }} input */
  charge: ({ euros }) => euros > 100,
};
