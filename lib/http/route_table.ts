/** The last segment of a template that takes the rest of a path, slashes and all. */
const REST = "{*}";

/**
 * Values by path template, found in the raw text of a path: `/buckets/{bucket}` has one segment for the name, and
 * `/objects/{*}` takes whatever follows, be it nothing. A literal wins over a name, which no empty segment is, and both
 * over the rest.
 */
export class RouteTable<V> {
  readonly #root = new Branch<V>();

  /** Where the template has a value already, that one stays. */
  add(template: string, value: V): void {
    let branch = this.#root;
    for (const segment of segmentsOf(template)) {
      if (segment === REST) {
        branch.rest ??= value;
        return;
      }
      branch = segment.startsWith("{") ? branch.named ??= new Branch() : branch.child(segment);
    }
    branch.value ??= value;
  }

  /** The value for a path as it was sent. Literals are equal in any percent-encoding. */
  find(path: string): V | undefined {
    return this.#root.find(path, 1);
  }
}

class Branch<V> {
  value: V | undefined;
  rest: V | undefined;
  named: Branch<V> | undefined;
  readonly #literals = new Map<string, Branch<V>>();

  child(literal: string): Branch<V> {
    let branch = this.#literals.get(literal);
    if (!branch) this.#literals.set(literal, branch = new Branch());
    return branch;
  }

  /** Looks at what begins at `start`, behind a slash; a path that ends before that has no segment left. */
  find(path: string, start: number): V | undefined {
    if (start > path.length) return this.value;
    const slash = path.indexOf("/", start);
    const end = slash < 0 ? path.length : slash;
    const segment = path.slice(start, end);
    const found = this.#literal(segment)?.find(path, end + 1);
    if (found !== undefined) return found;
    const named = segment === "" ? undefined : this.named?.find(path, end + 1);
    return named ?? this.rest;
  }

  #literal(segment: string): Branch<V> | undefined {
    const branch = this.#literals.get(segment);
    return branch || !segment.includes("%") ? branch : this.#literals.get(decoded(segment));
  }
}

function segmentsOf(path: string): string[] {
  return path.slice(1).split("/");
}

/** An encoded slash is not one that separates, and no literal has one. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
