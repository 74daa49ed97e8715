/** The entries of a folder; none where it is absent. */
export function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The first line of an error's message, for messages of one line. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0] : "unknown reason";
}
