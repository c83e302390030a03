import { Composer, Parser, type Document, type DocumentOptions, type ParseOptions, type SchemaOptions } from 'yaml';
import { tokensWithin, type LimitFinding, type YamlLimits } from './yaml-limits.js';

export interface ComposedYaml {
  /** The limit that the text exceeds. If set, nothing else counts. */
  readonly exceeded: LimitFinding | undefined;
  /** The first document. Undefined if there is none. */
  readonly document: Document.Parsed | undefined;
  /** The offset of a second document, which is not read. */
  readonly second: number | undefined;
}

export type ComposeOptions = ParseOptions & DocumentOptions & SchemaOptions;

/**
 * Reads the first document of a YAML text within limits. The limits are checked while tokens are read, before anything is built.
 *
 * The library's check for repeated keys compares each key with each other; callers that need one use a set.
 */
export function composeYaml(text: string, limits: YamlLimits, options: ComposeOptions = {}): ComposedYaml {
  const parsed = new TokensWithin(text, limits);
  const composer = new Composer({ logLevel: 'silent', ...options, uniqueKeys: false, prettyErrors: false });
  const { stackTraceLimit } = Error;
  let document: Document.Parsed | undefined;
  let second: number | undefined;
  // Each error in the text is an Error, and its unused stack trace would cost more than parsing.
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

/** Feeds the library's parser with tokens as long as they are within limits. */
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
