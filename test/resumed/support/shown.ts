/** Does something with a program; a failure says how to repeat it. */
export async function withProgram<T>(seed: number, program: unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error)
      error.message += `\nrepeat it with SKEIN_SEED=${seed} SKEIN_RUNS=1; the program: ${JSON.stringify(program)}`;
    throw error;
  }
}
