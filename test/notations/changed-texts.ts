import fc from 'fast-check';

/** What means something to a reader of YAML or of templates, and what no file should hold. */
const ADDED = ['', ' ', '\n', ':', '- ', '[', '}', '"', '{{', '&a ', '*a', '#', '\t', '__proto__', 'é', '\u001B'];

/** A text with one to four changes of a few characters each; `more` may be added, too. */
export function changedTexts(whole: string, more: readonly string[] = []): fc.Arbitrary<string> {
  const change = fc.tuple(fc.nat({ max: whole.length }), fc.nat({ max: 4 }), fc.constantFrom(...ADDED, ...more));
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let text = whole;
    for (const [at, removed, added] of changes) text = text.slice(0, at) + added + text.slice(at + removed);
    return text;
  });
}
