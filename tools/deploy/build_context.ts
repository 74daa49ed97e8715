/** Which files of the project a builder of images is sent: the patterns of `.dockerignore`, none of which has wildcards. */
export interface BuildContext {
  /** Paths that are sent although an earlier pattern leaves them out, relative to the project. */
  readonly included: readonly string[];
  /** Whether a path relative to the project is sent. */
  has(path: string): boolean;
}

/**
 * Reads `.dockerignore`: the last pattern that a path or a folder above it matches decides.
 *
 * @throws {Error} for a pattern with a wildcard other than `*` alone
 */
export function readBuildContext(source: string): BuildContext {
  const patterns = source.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ isIncluded: line.startsWith("!"), pattern: line.replace(/^!/, "") }));
  const odd = patterns.find(({ pattern }) => pattern !== "*" && /[*?[\]]/.test(pattern));
  if (odd) throw new Error(`.dockerignore: ${odd.pattern} has a wildcard`);
  const matches = (pattern: string, path: string) =>
    pattern === "*" || path === pattern || path.startsWith(`${pattern}/`);
  return {
    included: patterns.filter(({ isIncluded }) => isIncluded).map(({ pattern }) => pattern),
    has: (path) => patterns.findLast(({ pattern }) => matches(pattern, path))?.isIncluded ?? true,
  };
}
