import type { Position } from '../../base/problem.js';
import type { Findings } from '../../text/findings.js';
import { ClauseReader, meantKeyword, reportWord, shown, type Draft } from './clauses.js';
import { Scanner, type Token } from './scanner.js';
import {
  CLAUSES,
  STATEMENTS,
  LINE_WORDS,
  isKeyword,
  type Agentfile,
  type InputStatement,
  type NameStatement,
  type WorkKind,
  type WorkStatement,
  type Written,
  type WrittenBudget,
  type WrittenSecurity,
  type WrittenSupervision,
} from './statements.js';

/**
 * Parses the text of an Agentfile. Parsing continues after a mistake, so all mistakes are found at once. A damaged statement is read as
 * what it most likely means. Problem codes: `unknown-statement`, `keyword-case`, `missing-name`, `missing-value`, `not-closed`,
 * `unexpected`, `duplicate-statement`, `duplicate-clause`, `misplaced-clause`, `loop`; warnings `clause-order`, `continued-line`,
 * `spread-text`, `stale-statement`, `unnamed-goal`, `missing-quotes`.
 */
export function parseAgentfile(text: string, file: string, findings: Findings): Agentfile {
  return new Parser(text, file, findings).read();
}

/** Statement words that are also clauses. On a line of their own they apply to the whole file. */
const OF_FILE: readonly string[] = ['SUPERVISED', 'BUDGET', 'SECURITY'];

class Parser {
  private readonly scanner: Scanner;
  private readonly clauses: ClauseReader;
  private readonly names: NameStatement[] = [];
  private readonly workflows: Written[] = [];
  private readonly inputs: InputStatement[] = [];
  private readonly works: Draft[] = [];
  private readonly supervisions: WrittenSupervision[] = [];
  private readonly budgets: WrittenBudget[] = [];
  private readonly securities: WrittenSecurity[] = [];
  private readonly refused = new Set<string>();
  /** The statement above, if more clauses may follow it. */
  private open: Draft | undefined;

  constructor(
    text: string,
    file: string,
    private readonly findings: Findings,
  ) {
    this.scanner = new Scanner(text, file, (at, mark) => {
      findings.error('not-closed', `the text that begins here is not closed`, at, `put ${mark} after it`);
    });
    this.clauses = new ClauseReader(this.scanner, findings);
  }

  read(): Agentfile {
    for (;;) {
      const { indented } = this.scanner.nextStatement();
      if (this.scanner.atEnd) return this.result();
      this.statement(this.scanner.take(), indented);
      this.scanner.endLine();
    }
  }

  private statement(token: Token, indented: boolean): void {
    const word = this.statementWord(token);
    if (word === undefined) return;
    if (this.open !== undefined && this.continues(word, this.open)) {
      const what = `${this.open.kind} ${this.open.name?.text ?? ''}`.trim();
      const message = `this line is read as part of ${what} above`;
      this.findings.warning('continued-line', message, token.at, 'write a statement on one line');
      this.work(this.open, token);
      return;
    }
    if (OF_FILE.includes(word) && indented && this.open !== undefined) {
      const hint = `write it after ${this.open.kind} to apply it to that alone`;
      this.findings.warning('continued-line', `${word} on its own line applies to the whole file`, token.at, hint);
    }
    this.open = undefined;
    this.begin(word, token);
  }

  /** Returns the word that begins the line, or that it means; `text` and `->` for clauses without a word. */
  private statementWord(token: Token): string | undefined {
    const { kind, text, at } = token;
    if (kind === '->' || (kind === 'text' && this.open !== undefined && !hasText(this.open))) return kind;
    if (kind === 'word') {
      if (LINE_WORDS.includes(text)) return text;
      const meant = meantKeyword(text, LINE_WORDS);
      if (meant !== undefined) {
        reportWord(text, meant, at, this.findings);
        return meant;
      }
    }
    const hint = `a line begins with one of ${STATEMENTS.join(', ')}`;
    this.findings.error('unknown-statement', `${shown(token)} does not begin a statement`, at, hint);
    return undefined;
  }

  private continues(word: string, open: Draft): boolean {
    if (OF_FILE.includes(word)) return isUnfinished(open);
    return word === 'text' || word === '->' || (CLAUSES as readonly string[]).includes(word);
  }

  private begin(word: string, token: Token): void {
    switch (word) {
      case 'NAME':
        return this.name(token);
      case 'INPUT':
        return this.input(token);
      case 'AGENT':
      case 'GOAL':
      case 'CONVERGE':
      case 'RUN':
        return this.beginWork(word, token);
      case 'SUPERVISED':
        this.supervisions.push(this.clauses.supervision(token));
        return this.clauses.nothingMore();
      case 'BUDGET':
        return this.budget(token);
      case 'SECURITY':
        return this.security(token);
      case 'WORKFLOW':
        return this.workflow(token);
      case 'VERSION':
        return this.findings.warning('stale-statement', 'VERSION means nothing and is ignored', token.at, 'remove it');
      case 'LOOP':
        return this.loop(token);
      default:
        this.findings.error('unexpected', `${word} must follow a statement`, token.at, 'write it after the statement');
    }
  }

  private name(token: Token): void {
    const name = this.nameAfter(token, 'NAME my-workflow');
    if (name !== undefined) this.names.push({ kind: 'NAME', name });
    this.clauses.nothingMore();
  }

  /** Reads the name after a keyword. A quoted text is accepted as a name, and reported. */
  private nameAfter({ text, at }: Token, example: string): Written | undefined {
    const name = this.scanner.peek();
    if ((name.kind === 'word' && !isKeyword(name.text)) || name.kind === 'other' || name.kind === 'text') {
      this.scanner.take();
      if (name.kind === 'text')
        this.findings.error('missing-name', `${text} takes a name without quotes`, name.at, example);
      return { text: name.text, at: name.at };
    }
    this.findings.error('missing-name', `${text} without a name`, at, `write ${example}`);
    return undefined;
  }

  private input(token: Token): void {
    const name = this.nameAfter(token, 'INPUT topic DEFAULT "value"');
    const value = this.clauses.inputValue(name?.text ?? '');
    if (name !== undefined) this.inputs.push({ kind: 'INPUT', name, ...(value !== undefined && { value }) });
    const prose = this.below();
    if (prose !== undefined)
      this.findings.warning(
        'continued-line',
        'the text below INPUT is not used',
        prose.at,
        'write it as a comment: # ...',
      );
  }

  private beginWork(kind: WorkKind, token: Token): void {
    const draft: Draft = { kind, at: token.at, outputs: [], using: [], seen: new Set() };
    const name = this.scanner.peek();
    if ((name.kind === 'word' && !isKeyword(name.text)) || name.kind === 'other') {
      this.scanner.take();
      draft.name = { text: name.text, at: name.at };
    } else if (kind !== 'GOAL') {
      this.findings.error('missing-name', `${kind} without a name`, token.at, `write ${kind} name ...`);
    }
    this.works.push(draft);
    this.open = draft;
    this.work(draft);
  }

  /** Reads the clauses of a statement, or the text below it. */
  private work(draft: Draft, first?: Token): void {
    this.clauses.read(draft, first);
    if (hasText(draft)) return;
    const prose = this.below();
    if (prose === undefined) return;
    draft.text = prose;
    const message = `the indented lines are read as the text of ${draft.kind}`;
    this.findings.warning('missing-quotes', message, prose.at, 'put the text between """ and """');
  }

  /** Reads the indented lines of prose below the current line. */
  private below(): Written | undefined {
    this.scanner.endLine();
    return this.scanner.indentedText((word) => LINE_WORDS.includes(word) || /^(?:->|")/.test(word));
  }

  private budget(token: Token): void {
    const budget = this.clauses.budget(token);
    if (budget !== undefined) this.budgets.push(budget);
    this.clauses.nothingMore();
  }

  private security(token: Token): void {
    const security = this.clauses.security(token);
    if (security !== undefined) this.securities.push(security);
    this.clauses.nothingMore();
  }

  private workflow(token: Token): void {
    const name = this.scanner.take();
    const hasName = name.kind === 'word' || name.kind === 'text';
    if (hasName) this.workflows.push({ text: name.text, at: name.at });
    const message = `WORKFLOW is read as NAME${hasName ? '' : ', which needs a name'}`;
    this.findings.warning('stale-statement', message, token.at, 'write NAME');
  }

  private loop(token: Token): void {
    const name = this.scanner.peek();
    if (name.kind === 'word') this.refused.add(name.text);
    const hint = 'write CONVERGE name "what to refine" USING agents WITHIN number';
    this.findings.error('loop', 'LOOP is not supported: without it work would be left out', token.at, hint);
  }

  private result(): Agentfile {
    const [first] = this.names;
    const [workflow] = this.workflows;
    const [supervision] = this.supervisions;
    const [budget] = this.budgets;
    const [security] = this.securities;
    this.onlyOnce(
      'NAME',
      this.names.map(({ name }) => name.at),
    );
    this.onlyOnce(
      'SUPERVISED',
      this.supervisions.map(({ at }) => at),
    );
    this.onlyOnce(
      'BUDGET',
      this.budgets.map(({ at }) => at),
    );
    this.onlyOnce(
      'SECURITY',
      this.securities.map(({ at }) => at),
    );
    const name = first?.name ?? workflow;
    const works = nameGoals(this.works, this.findings);
    return {
      ...(name !== undefined && { name }),
      inputs: this.inputs,
      agents: works.filter(({ kind }) => kind === 'AGENT'),
      goals: works.filter(({ kind }) => kind === 'GOAL' || kind === 'CONVERGE'),
      runs: works.filter(({ kind }) => kind === 'RUN'),
      ...(supervision !== undefined && { supervision }),
      ...(budget !== undefined && { budget }),
      ...(security !== undefined && { security }),
      refused: this.refused,
    };
  }

  private onlyOnce(word: string, [, ...others]: readonly Position[]): void {
    for (const at of others) this.findings.error('duplicate-statement', `${word} stands twice`, at, 'keep one of them');
  }
}

/** Names goals without a name `goal-1`, `goal-2` ... Other statements without a name were reported, and are left out. */
function nameGoals(drafts: readonly Draft[], findings: Findings): readonly WorkStatement[] {
  const taken = new Set(drafts.map(({ name }) => name?.text));
  let number = 0;
  return drafts.flatMap(({ seen: _seen, ...draft }) => {
    if (draft.name !== undefined) return [{ ...draft, name: draft.name }];
    if (draft.kind !== 'GOAL') return [];
    do number += 1;
    while (taken.has(`goal-${number}`));
    const name = { text: `goal-${number}`, at: draft.at };
    findings.warning('unnamed-goal', `GOAL has no name and is called ${name.text}`, draft.at, 'write GOAL name "..."');
    return [{ ...draft, name }];
  });
}

function hasText({ text, from }: Draft): boolean {
  return text !== undefined || from !== undefined;
}

/** Whether the statement still lacks something it needs. */
function isUnfinished(draft: Draft): boolean {
  if (draft.kind === 'RUN') return draft.using.length === 0;
  return !hasText(draft) || (draft.kind === 'CONVERGE' && draft.within === undefined);
}
