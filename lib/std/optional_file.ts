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
  return await unlessMissingAsync(async () => (await Deno.stat(path)).size);
}

/** The text of a file; null where there is none. @throws what else keeps it from being read */
export function textIfExists(path: string): string | null {
  return unlessMissing(() => Deno.readTextFileSync(path));
}

/** Removes a file, unless there is none. @throws what else keeps it from being removed */
export function removeIfExists(path: string): void {
  unlessMissing(() => Deno.removeSync(path));
}

/** As {@link removeIfExists}, without blocking the process. */
export async function removeIfExistsAsync(path: string): Promise<void> {
  await unlessMissingAsync(() => Deno.remove(path));
}

/** What is made of a file; null where there is none. @throws what else keeps it from being used */
export function unlessMissing<Value>(use: () => Value): Value | null {
  try {
    return use();
  } catch (error) {
    return nullIfMissing(error);
  }
}

/** As {@link unlessMissing}, without blocking the process. */
export async function unlessMissingAsync<Value>(use: () => Promise<Value>): Promise<Value | null> {
  try {
    return await use();
  } catch (error) {
    return nullIfMissing(error);
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Deno.errors.NotFound) return null;
  throw error;
}
