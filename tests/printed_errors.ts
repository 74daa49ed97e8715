/** The lines that are printed as errors until the end of a scope. */
export function printedErrors(): Disposable & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const { error } = console;
  console.error = (...parts) => void lines.push(parts.join(" "));
  return {
    lines,
    [Symbol.dispose]() {
      console.error = error;
    },
  };
}
