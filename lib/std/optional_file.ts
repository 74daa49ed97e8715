/** Whether there is a file or a folder, or what a symbolic link leads to. @throws what else keeps it from being looked at */
export function exists(path: string): boolean {
  return unlessMissing(() => Deno.statSync(path)) !== null;
}

/** The bytes of a file; null where there is none. @throws what else keeps it from being looked at */
export function sizeIfExists(path: string): number | null {
  return unlessMissing(() => Deno.statSync(path).size);
}

/** As {@link sizeIfExists}, without blocking the process. */
export async function sizeIfExistsAsync(path: string): Promise<number | null> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The text of a file; null where there is none. @throws what else keeps it from being read */
export function textIfExists(path: string): string | null {
  return unlessMissing(() => Deno.readTextFileSync(path));
}

/** Removes a file, unless there is none. @throws what else keeps it from being removed */
export function removeIfExists(path: string): void {
  unlessMissing(() => Deno.removeSync(path));
}

/** As {@link removeIfExists}, while the process goes on. */
export async function removeIfExistsAsync(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function unlessMissing<Value>(use: () => Value): Value | null {
  try {
    return use();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
