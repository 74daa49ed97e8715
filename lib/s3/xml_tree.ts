import { MalformedXml, scanXml } from "./xml.ts";

/** Limits the memory of a tree. The longest document, a list of buckets of 16 MiB, has about as many elements. */
const MAX_ELEMENTS = 500_000;
const NO_CHILDREN: readonly XmlElement[] = [];

/**
 * An element of a small document. A path is a list of names from the children on; it leads through each element of a
 * name.
 */
export class XmlElement {
  constructor(
    /** Without its prefix. */
    readonly name: string,
    /** Entities decoded, white space included; empty for an element with children. */
    readonly content: string,
    readonly children: readonly XmlElement[],
  ) {}

  /** The elements with children at the end of a path, in their order. */
  all(...path: readonly string[]): XmlElement[] {
    return this.#at(path).filter(({ children }) => children.length > 0);
  }

  /** The contents of the elements without children at the end of a path, in their order. */
  texts(...path: readonly string[]): string[] {
    return this.#at(path).filter(({ children }) => children.length === 0).map(({ content }) => content);
  }

  /** The last of {@link texts}, null where there is none. */
  text(...path: readonly string[]): string | null {
    return this.#last(path, 0);
  }

  /** The same, converted by `read`. */
  read<T>(read: (text: string) => T, ...path: readonly string[]): T | null {
    const text = this.#last(path, 0);
    return text === null ? null : read(text);
  }

  #at(path: readonly string[]): readonly XmlElement[] {
    let found: readonly XmlElement[] = [this];
    for (const name of path) found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
    return found;
  }

  #last(path: readonly string[], at: number): string | null {
    if (at === path.length) return this.children.length === 0 ? this.content : null;
    const { children } = this;
    for (let i = children.length - 1; i >= 0; i--) {
      const text = children[i].name === path[at] ? children[i].#last(path, at + 1) : null;
      if (text !== null) return text;
    }
    return null;
  }
}

/**
 * Reads a small document into a tree. Long listings are read by {@link scanXml} alone.
 *
 * @returns the root
 * @throws MalformedXml when it is not well-formed, has too many elements, or its root has another name
 */
export function readTree(xml: string, root: string): XmlElement {
  // The scanner reports an element after its children, which wait here, by level, for their parent.
  const waiting: XmlElement[][] = [[]];
  const nodes = new Map<string, { name: string; level: number }>();
  let elements = 0;
  const add = (path: string, content: string, closesChildren: boolean) => {
    if (++elements > MAX_ELEMENTS) throw new MalformedXml("too many elements");
    let node = nodes.get(path);
    if (!node) {
      const names = path.split("/");
      if (names[0] !== root) throw new MalformedXml(`expected ${root}`);
      nodes.set(path, node = { name: names[names.length - 1], level: names.length - 1 });
    }
    const { name, level } = node;
    const children = closesChildren ? waiting[level + 1] : NO_CHILDREN;
    if (closesChildren) waiting[level + 1] = [];
    (waiting[level] ??= []).push(new XmlElement(name, content, children));
  };
  scanXml(xml, {
    leaf: (path, text) => add(path, text, false),
    close: (path) => add(path, "", true),
  });
  return waiting[0][0];
}
