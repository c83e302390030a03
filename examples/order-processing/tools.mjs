/** What articles cost, in euros, and how many are there. */
const ARTICLES = new Map([
  ['shuttle', { euros: 12, stock: 40 }],
  ['loom', { euros: 480, stock: 2 }],
]);

/** @param {{ article: string }} input */
export function price_of({ article }) {
  return ARTICLES.get(article) ?? { error: 'there is no such article' };
}

/** @param {{ euros: number }} input */
export function charge({ euros }) {
  return { receipt: `R-${Math.round(euros)}` };
}

/** A person must allow a charge above 100 euros. */
export const approve = {
  /** @param {{ euros: number }} input */
  charge: ({ euros }) => euros > 100,
};
