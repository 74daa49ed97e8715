import { posix } from "node:path";

/** One import of a module: what it names, and how. */
export interface Import {
  /** Path of the importing file, relative to the project. */
  readonly from: string;
  /** Path of the imported file, relative to the project. */
  readonly to: string;
  /** The imported names; `*` stands for all of them. Empty where the module is only loaded. */
  readonly names: readonly string[];
  /** Only types are imported. */
  readonly isType: boolean;
  /** The names are exported again. */
  readonly isExport: boolean;
}

/** One name that a module exports itself. */
export interface Export {
  readonly file: string;
  readonly name: string;
}

/** The source files of a project, each with its text. */
export type Sources = ReadonlyMap<string, string>;

/** Folders that hold no source of the project. */
const SKIPPED = new Set(["node_modules", ".git", ".data", "build"]);

/** Reads every TypeScript file below a folder, by its path relative to that folder. */
export function readSources(root: string): Sources {
  const sources = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of Deno.readDirSync(posix.join(root, folder))) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory && !SKIPPED.has(entry.name)) walk(path);
      else if (entry.isFile && /\.tsx?$/.test(entry.name)) sources.set(path, Deno.readTextFileSync(`${root}/${path}`));
    }
  };
  walk("");
  return new Map([...sources].sort(([a], [b]) => a < b ? -1 : 1));
}

// The formatter writes each of these in one form, so expressions find all of them.
const STATIC = /^(import|export)\b(\s+type\b)?\s*([\w$*{},\s]*?)\s*\bfrom\s*"([^"]+)"/gm;
const LOADED = /^import\s+"([^"]+)"/gm;
const DYNAMIC = /(?:(?:const|let)\s+\{([^}]*)\}\s*=\s*await\s+)?\bimport\(\s*"([^"]+)"\s*\)(?:\.(\w+))?/g;
const ADDRESS = /new URL\(\s*"(\.[^"]*)"\s*,\s*import\.meta\.url\s*\)/g;
const LINE_COMMENT = /^\s*(?:\/\/|\*|\/\*).*$/gm;

/** All imports between files of the project: static, dynamic, of types, and the modules of threads. */
export function readImports(sources: Sources): Import[] {
  const imports: Import[] = [];
  for (const [from, source] of sources) {
    const text = source.replace(LINE_COMMENT, "");
    const add = (specifier: string, names: readonly string[], isType: boolean, isExport: boolean) => {
      const to = resolved(from, specifier);
      if (sources.has(to)) imports.push({ from, to, names, isType, isExport });
    };
    for (const [, keyword, type, clause, specifier] of text.matchAll(STATIC)) {
      const all = namesOf(clause);
      const isType = type !== undefined || (all.length > 0 && all.every((name) => name.startsWith("type ")));
      add(specifier, all.map((name) => name.replace(/^type /, "")), isType, keyword === "export");
    }
    for (const [, specifier] of text.matchAll(LOADED)) add(specifier, [], false, false);
    for (const [, clause, specifier, member] of text.matchAll(DYNAMIC)) {
      add(specifier, clause ? namesOf(`{${clause}}`) : [member ?? "*"], false, false);
    }
    for (const [, specifier] of text.matchAll(ADDRESS)) add(specifier, [], false, false);
  }
  return imports;
}

function resolved(from: string, specifier: string): string {
  if (specifier.startsWith("@/")) return specifier.slice(2);
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : specifier;
}

/** The names on the exporting side: `a as b` is `a`, a default import is `default`, `* as all` is `*`. */
function namesOf(clause: string): string[] {
  const [outside, inside = ""] = clause.includes("{") ? clause.split("{") : [clause];
  const named = inside.replace("}", "").split(",").map((name) => name.trim()).filter((name) => name !== "")
    .map((name) => name.split(/\s+as\s+|\s*:\s*/)[0]);
  const other = outside.split(",").map((name) => name.trim()).filter((name) => name !== "")
    .map((name) => name.startsWith("*") ? "*" : "default");
  return [...other, ...named];
}

const DECLARED =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;

/** The exports of each file: declared, listed, or exported again from another file. */
export function readExports(sources: Sources): Export[] {
  const exports: Export[] = [];
  for (const [file, text] of sources) {
    for (const [, name] of text.matchAll(DECLARED)) exports.push({ file, name });
    for (const [, list] of text.matchAll(LISTED)) {
      for (const entry of list.split(",").map((name) => name.trim()).filter((name) => name !== "")) {
        exports.push({ file, name: entry.replace(/^type /, "").split(/\s+as\s+/).at(-1)! });
      }
    }
  }
  return exports;
}

/** Groups of nodes of a directed graph that reach each other: each one is a circle, or several that share nodes. */
export function circles(edges: Iterable<readonly [from: string, to: string]>): string[][] {
  const next = new Map<string, Set<string>>();
  const nodes = new Set<string>();
  for (const [from, to] of edges) {
    nodes.add(from).add(to);
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  // Tarjan's algorithm.
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const found: string[][] = [];
  const visit = (node: string) => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    open.add(node);
    for (const to of next.get(node) ?? []) {
      if (!index.has(to)) {
        visit(to);
        low.set(node, Math.min(low.get(node)!, low.get(to)!));
      } else if (open.has(to)) low.set(node, Math.min(low.get(node)!, index.get(to)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    group.forEach((member) => open.delete(member));
    if (group.length > 1) found.push(group.sort());
  };
  nodes.forEach((node) => index.has(node) || visit(node));
  return found.sort((a, b) => a[0] < b[0] ? -1 : 1);
}

/** The folder of a file; "." for the project's own. */
export const folderOf = (file: string): string => posix.dirname(file);
