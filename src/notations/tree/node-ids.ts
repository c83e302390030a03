/** What an id may hold as it is. */
const PLAIN = /[A-Za-z0-9_-]/;
const LONGEST = 180;

/** Ids of the nodes of a plan, made of names. */
export class NodeIds {
  private readonly taken = new Set<string>();

  /** The id for a name: other characters by their code, and a number where the name stands again. */
  next(name: string): string {
    const plain = Array.from({ length: name.length }, (_, at) => {
      const one = name.charAt(at);
      return PLAIN.test(one) ? one : `_${name.charCodeAt(at).toString(16)}.`;
    }).join('');
    const base = plain === 'END' ? 'END_' : plain.slice(0, LONGEST);
    let id = base;
    for (let count = 2; this.taken.has(id); count += 1) id = `${base}.${count}`;
    this.taken.add(id);
    return id;
  }
}
