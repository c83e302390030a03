/** References to environment variables in a text: `$NAME`, `${NAME}`, `${NAME:-default}`, and GitHub's `${{ secrets.NAME }}`. */
export const VARIABLE_REFERENCE =
  /\$\{\{(?<expression>[^{}]{0,200})\}\}|\$\{(?<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^{}]*))?\}|\$(?<plain>[A-Za-z_][A-Za-z0-9_]*)|\$\{/g;

/** The bare name of a secret, as Copilot's files may give it for a variable of a server. */
export const BARE_SECRET = /^COPILOT_MCP_[A-Z0-9_]+$/;

/** The variable that an expression of GitHub's kind stands for. */
export function expressionVariable(expression: string): string | undefined {
  return /^(?:secrets|vars|env)\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression.trim())?.[1];
}

/** The variables that a text refers to. */
export function variablesIn(text: string): readonly string[] {
  if (BARE_SECRET.test(text)) return [text];
  return [...text.matchAll(VARIABLE_REFERENCE)].flatMap(({ groups = {} }) => {
    const { expression, braced, plain } = groups;
    return (expression === undefined ? (braced ?? plain) : expressionVariable(expression)) ?? [];
  });
}
