/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value without white space around it; undefined when it is empty. */
export function envValue(env: Env, name: string | undefined): string | undefined {
  const value = name === undefined || !Object.hasOwn(env, name) ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}
