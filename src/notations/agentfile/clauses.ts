import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { didYouMean, suggest } from '../../base/suggest.js';
import { BUDGET_UNITS, readBudget } from '../../plan/budget-text.js';
import { lacksScope, SECURITY_MODES } from '../../plan/security.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import type { Scanner, Token } from './scanner.js';
import {
  CLAUSES,
  STATEMENTS,
  CLAUSES_OF,
  SHOWN,
  isKeyword,
  type Clause,
  type WorkStatement,
  type Written,
  type WrittenBudget,
  type WrittenSecurity,
  type WrittenSupervision,
} from './statements.js';

type Unfinished<T> = { -readonly [K in keyof T]: T[K] };

export interface Draft extends Unfinished<Omit<WorkStatement, 'name'>> {
  name?: Written;
  /** The clauses read so far, by their rank in the usual order. */
  readonly seen: Set<number>;
}

export class ClauseReader {
  constructor(
    private readonly scanner: Scanner,
    private readonly findings: Findings,
  ) {}

  /** Reads the clauses of a line. The caller may have read the first token. */
  read(draft: Draft, first?: Token): void {
    for (let token = first ?? this.scanner.take(); token.kind !== 'end'; token = this.scanner.take())
      this.clause(draft, token);
  }

  /** Reports the rest of the line. */
  nothingMore(hint = 'put it on a line of its own, or remove it'): void {
    const token = this.scanner.peek();
    if (token.kind !== 'end') this.findings.error('unexpected', `${shown(token)} has no meaning here`, token.at, hint);
  }

  /** Reads `SUPERVISED [HUMAN]` or `UNSUPERVISED`, after its first word.  */
  supervision({ text, at }: Token): WrittenSupervision {
    if (meantKeyword(text, ['SUPERVISED', 'UNSUPERVISED']) === 'UNSUPERVISED') return { mode: 'off', at };
    const { kind, text: next, at: place } = this.scanner.peek();
    if (kind !== 'word' || next.toUpperCase() !== 'HUMAN') return { mode: 'model', at };
    this.scanner.take();
    if (next !== 'HUMAN') reportWord(next, 'HUMAN', place, this.findings);
    return { mode: 'human', at };
  }

  /** Reads `BUDGET amount, amount`, after its first word. An amount may be quoted. */
  budget({ at }: Token): WrittenBudget | undefined {
    const amounts: string[] = [];
    do {
      if (amounts.length > 0) this.scanner.take();
      const { kind, text } = this.scanner.peek();
      const isAmount =
        kind === 'text' || kind === 'other' || kind === 'variable' || (kind === 'word' && !isKeyword(text));
      amounts.push(isAmount ? `${kind === 'variable' ? '$' : ''}${this.scanner.take().text}` : '');
    } while (this.scanner.peek().kind === ',');
    const read = readBudget(amounts.join());
    const adds = !('wrong' in read) && Object.keys(read.add).length > 0;
    if (!('wrong' in read) && !adds) return { budget: read.set, at };
    const wrong = 'wrong' in read ? read.wrong : 'it adds to no budget';
    this.findings.error('bad-budget', `BUDGET: ${wrong}`, at, `give ${BUDGET_UNITS}`);
    return undefined;
  }

  /** Reads `DEFAULT value` of an input. */
  inputValue(name: string): Written | undefined {
    const token = this.scanner.peek();
    if (token.kind === 'end') return undefined;
    const sign = `INPUT ${name} DEFAULT "value"`;
    if (token.kind === '=') {
      this.findings.warning('clause-order', '= is read as DEFAULT', token.at, `write ${sign}`);
    } else if (token.kind !== 'word' || meantKeyword(token.text, ['DEFAULT']) === undefined) {
      this.nothingMore(`write ${sign}`);
      return undefined;
    } else if (token.text !== 'DEFAULT') reportWord(token.text, 'DEFAULT', token.at, this.findings);
    this.scanner.take();
    const value = this.scanner.take();
    if (value.kind !== 'text' && value.kind !== 'word' && value.kind !== 'other') {
      this.findings.error('missing-value', `DEFAULT takes a value, not ${shown(value)}`, value.at, `write ${sign}`);
      return undefined;
    }
    if (value.spread !== undefined) this.reportSpread(value);
    this.nothingMore('put the value between quotes');
    return { text: value.text, at: value.at };
  }

  /** Reads `SECURITY mode ["scope"]`, after its first word. */
  security({ at }: Token): WrittenSecurity | undefined {
    const { kind, text, at: place } = this.scanner.peek();
    const mode = SECURITY_MODES.find((one) => one === text);
    if (kind !== 'end' && !isKeyword(text)) this.scanner.take();
    if (kind !== 'word' || mode === undefined) {
      const hint = didYouMean(text, SECURITY_MODES) ?? 'write SECURITY default, paranoid or research "scope"';
      this.findings.error('missing-value', 'SECURITY takes default, paranoid or research', place, hint);
      return undefined;
    }
    const scope = this.scanner.peek().kind === 'text' ? this.scanner.take().text.trim() : undefined;
    const security = { mode, ...present({ scope: scope === '' ? undefined : scope }) };
    if (!lacksScope(security)) return { security, at };
    const hint = 'write SECURITY research "what may be investigated"';
    this.findings.error('missing-value', 'SECURITY research needs a scope', at, hint);
    return undefined;
  }

  private clause(draft: Draft, token: Token): void {
    const clause = this.clauseOf(token);
    if (clause === undefined) this.unexpected(draft, token);
    else if (clause === 'text') this.text(draft, token);
    else {
      const value = this.valueOf(clause, draft, token);
      if (this.place(draft, clause, token.at)) Object.assign(draft, value);
    }
  }

  /** Reads the value of a clause, after its word or sign. A missing value is reported. */
  private valueOf(clause: Exclude<Clause, 'text'>, draft: Draft, token: Token): Partial<Draft> {
    switch (clause) {
      case '->':
        return { outputs: this.names(draft, '->') };
      case 'USING':
        return { using: this.names(draft, 'USING') };
      case 'FROM':
        return present({ from: this.path() });
      case 'REQUIRES':
        return present({ requires: this.profile() });
      case 'WITHIN':
        return { within: this.within(token.at) };
      case 'BUDGET':
        return present({ budget: this.budget(token) });
      case 'SECURITY':
        return present({ security: this.security(token) });
      case 'ENDORSED':
        return { endorsed: true };
      case 'SUPERVISED':
      case 'UNSUPERVISED':
        return { supervision: this.supervision(token) };
      case 'DEFAULT':
        this.scanner.take();
        return {};
    }
  }

  /** Returns the clause that a token begins. Misspelt words and words in the wrong case are reported, then read as meant. */
  private clauseOf({ kind, text, at }: Token): Clause | undefined {
    if (kind === 'text' || kind === '->') return kind;
    if (kind !== 'word') return undefined;
    const meant = CLAUSES.find((one) => one === (isKeyword(text) ? text : meantKeyword(text, CLAUSES)));
    if (meant !== undefined && meant !== text) reportWord(text, meant, at, this.findings);
    return meant;
  }

  /** Whether a clause is allowed here: it belongs to the statement, and is the first of its kind. */
  private place(draft: Draft, clause: Clause, at: Position): boolean {
    const order = CLAUSES_OF[draft.kind];
    const rank = order.findIndex((group) => group.includes(clause));
    if (rank === -1) {
      const owners = Object.entries(CLAUSES_OF).filter(([, groups]) => groups.some((group) => group.includes(clause)));
      const hint = clause === 'DEFAULT' ? 'INPUT has it' : `${owners.map(([kind]) => kind).join(', ')} can have it`;
      this.findings.error('misplaced-clause', `${draft.kind} can't have ${wordOf(clause)}`, at, hint);
      return false;
    }
    if (draft.seen.has(rank)) {
      const both = (order[rank] ?? []).map(wordOf).join(' or ');
      this.findings.error('duplicate-clause', `${draft.kind} has ${both} twice`, at, 'keep one of them');
      return false;
    }
    const behind = [...draft.seen].find((one) => one > rank);
    if (behind !== undefined) {
      const parts = order.flatMap(([first]) => (first === undefined ? [] : [SHOWN[first]]));
      const other = (order[behind] ?? []).map(wordOf).join(' or ');
      const message = `${wordOf(clause)} usually stands before ${other}`;
      this.findings.warning('clause-order', message, at, `${draft.kind} name ${parts.join(' ')}`);
    }
    draft.seen.add(rank);
    return true;
  }

  private text(draft: Draft, token: Token): void {
    let { text } = token;
    if (token.spread !== undefined && this.isRunaway(token)) {
      const hint = 'put " after it';
      this.findings.error('not-closed', 'the text that begins here is not closed', token.at, hint);
      text = this.scanner.backTo(token.spread);
    } else if (token.spread !== undefined) this.reportSpread(token);
    if (this.place(draft, 'text', token.at)) draft.text = { text, at: token.at };
  }

  private reportSpread({ at }: Token): void {
    const hint = 'put """ before and after it';
    this.findings.warning('spread-text', `the text that begins in line ${at.line} spans several lines`, at, hint);
  }

  /** Whether a text over several lines swallowed a statement: then its end is the beginning of another text. */
  private isRunaway({ text }: Token): boolean {
    const next = this.scanner.peek();
    const goesOn = next.kind === 'end' || next.kind === '->' || (next.kind === 'word' && isKeyword(next.text));
    return (
      !goesOn &&
      text.split('\n').some((line) => (STATEMENTS as readonly string[]).includes(/^\w*/.exec(line)?.[0] ?? ''))
    );
  }

  /** Reports words that begin no clause, once, and skips them. If the statement lacks a text, they become its text. */
  private unexpected(draft: Draft, first: Token): void {
    const words = [first.text];
    while (!this.beginsClause(this.scanner.peek())) words.push(this.scanner.take().text);
    const lacksText = draft.kind !== 'RUN' && draft.text === undefined && draft.from === undefined;
    if (lacksText) draft.text = { text: words.join(' '), at: first.at };
    const clauses = CLAUSES_OF[draft.kind].flat().map(wordOf).join(', ');
    const hint = lacksText ? 'put the text between quotes' : `what may follow is ${clauses}`;
    this.findings.error('unexpected', `${shown(first)} has no meaning here`, first.at, hint);
  }

  private beginsClause({ kind, text }: Token): boolean {
    return (
      kind === 'end' ||
      kind === 'text' ||
      kind === '->' ||
      (kind === 'word' && (CLAUSES as readonly string[]).includes(text))
    );
  }

  private names(draft: Draft, behind: string): readonly Written[] {
    const names: Written[] = [];
    let before = behind;
    for (;;) {
      const token = this.scanner.peek();
      if ((token.kind !== 'word' || isKeyword(token.text)) && token.kind !== 'other') {
        const hint = token.kind === 'text' ? 'write names without quotes' : 'a list of names stands on one line: a, b';
        this.findings.error('missing-name', `a name is missing after ${before}`, token.at, hint);
        if (token.kind === 'text' || token.kind === 'variable') this.scanner.take();
        return names;
      }
      names.push({ text: this.scanner.take().text, at: token.at });
      const next = this.scanner.peek();
      if (next.kind === 'word' && next.text === 'THEN' && draft.kind === 'RUN') {
        this.findings.warning('clause-order', 'THEN is read as a comma', next.at, 'write a comma');
      } else if (next.kind === 'word' && !isKeyword(next.text) && meantKeyword(next.text, CLAUSES) === undefined) {
        this.findings.error('unexpected', `a comma is missing before ${quoteShort(next.text)}`, next.at, 'write a, b');
        continue;
      } else if (next.kind !== ',') return names;
      before = this.scanner.take().text;
    }
  }

  private path(): Written | undefined {
    const { kind, text, at } = this.scanner.takePath();
    if (kind === 'end') {
      this.findings.error('missing-value', 'FROM without a path', at, 'write FROM agents/critic.md');
      return undefined;
    }
    if (kind === 'text')
      this.findings.error('missing-value', 'FROM takes a path without quotes', at, 'write FROM agents/critic.md');
    return { text, at };
  }

  private profile(): Written | undefined {
    const token = this.scanner.peek();
    const isName = token.kind === 'word' && !isKeyword(token.text);
    if (token.kind === 'text' || isName) this.scanner.take();
    if (token.kind === 'text') return { text: token.text, at: token.at };
    this.findings.error('missing-value', 'REQUIRES takes a profile between quotes', token.at, 'write REQUIRES "fast"');
    return isName ? { text: token.text, at: token.at } : undefined;
  }

  private within(at: Position): NonNullable<WorkStatement['within']> {
    const { kind, text, at: place } = this.scanner.peek();
    if (kind === 'variable' || kind === 'word' || kind === 'other') this.scanner.take();
    if (kind === 'variable') return { variable: text, at };
    const number = Number(text);
    if (kind === 'word' && /^\d{1,9}$/.test(text) && number > 0) return { number, at };
    const hint =
      kind === 'word' && !/^\d/.test(text) ? `did you mean WITHIN $${text}?` : 'write WITHIN 5 or WITHIN $rounds';
    this.findings.error('missing-value', 'WITHIN takes a whole number above 0, or $name', place, hint);
    return { number: 1, at };
  }
}

/** Returns the keyword that a word means, in another case or misspelt. */
export function meantKeyword(word: string, keywords: readonly string[]): string | undefined {
  const upper = word.toUpperCase();
  return keywords.includes(upper) ? upper : suggest(word, keywords);
}

/** Reports a word used instead of a keyword. */
export function reportWord(word: string, meant: string, at: Position, findings: Findings): void {
  const hint = `did you mean ${meant}?`;
  if (word.toUpperCase() === meant)
    findings.error('keyword-case', `keywords are written in capitals: ${quoteShort(word)}`, at, hint);
  else findings.error('unknown-statement', `${quoteShort(word)} is not a keyword`, at, hint);
}

export function shown({ kind, text }: Token): string {
  if (kind === 'end') return 'the end of the line';
  return kind === 'text' ? 'a text' : quoteShort(kind === 'variable' ? `$${text}` : text);
}

function wordOf(clause: Clause): string {
  return clause === 'text' ? 'a text' : clause;
}
