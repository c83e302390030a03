import { Composer, Parser } from 'yaml';
import type { Document, DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';
import { tokensWithin } from './yaml-limits.js';
import type { LimitFinding, YamlLimits } from './yaml-limits.js';

/** What a text holds. */
export interface ComposedYaml {
  /** The text goes beyond a limit: nothing else of it counts. */
  readonly exceeded: LimitFinding | undefined;
  /** The first document. Absent when there is none. */
  readonly document: Document.Parsed | undefined;
  /** Where a second document begins; it is not read. */
  readonly second: number | undefined;
}

/** How the library reads. */
export type ComposeOptions = ParseOptions & DocumentOptions & SchemaOptions;

/**
 * Reads the first document of a YAML text within limits. Limits are checked while the tokens are read, before anything is made of them.
 *
 * The check of the library for repeated keys compares each with each; who needs one makes it with a set.
 */
export function composeYaml(text: string, limits: YamlLimits, options: ComposeOptions = {}): ComposedYaml {
  const parsed = new TokensWithin(text, limits);
  const composer = new Composer({ logLevel: 'silent', ...options, uniqueKeys: false, prettyErrors: false });
  const { stackTraceLimit } = Error;
  let document: Document.Parsed | undefined;
  let second: number | undefined;
  // Each error in the text is an Error, and a stack that nobody sees costs more than the reading around it.
  Error.stackTraceLimit = 0;
  try {
    for (const one of composer.compose(parsed.read(), true, text.length)) {
      if (document === undefined) document = one;
      else {
        second = one.range[0];
        break;
      }
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { exceeded: parsed.exceeded, document, second };
}

/** The parser of the library, which is handed tokens only as long as they are within limits. */
class TokensWithin {
  exceeded: LimitFinding | undefined = undefined;

  constructor(
    private readonly text: string,
    private readonly limits: YamlLimits,
  ) {}

  *read(): ReturnType<Parser['parse']> {
    const parser = new Parser();
    const tokens = tokensWithin(this.text, this.limits);
    let token = tokens.next();
    for (; token.done !== true; token = tokens.next()) yield* parser.next(token.value);
    this.exceeded = token.value;
    if (token.value === undefined) yield* parser.end();
  }
}
