/** Removes folders and files at the end of the scope: `using _removal = removeAtEnd(folder);`. */
export function removeAtEnd(...paths: readonly string[]): Disposable {
  return {
    [Symbol.dispose]() {
      for (const path of paths) Deno.removeSync(path, { recursive: true });
    },
  };
}
