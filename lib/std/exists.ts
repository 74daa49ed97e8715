/** Whether there is a file or a folder, or what a symbolic link leads to. @throws what else keeps it from being looked at */
export function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
