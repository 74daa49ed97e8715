import { Buffer } from "node:buffer";
import { z } from "zod";
import { codedError, HttpError } from "@/lib/http/errors.ts";
import { compareText } from "@/lib/std/text.ts";
import { type Entry, type ExpectedDigest, expectedEntry } from "./expected.ts";
import { readObject, type ReadSource } from "./object_digests.ts";
import { LineSplitter, MANIFEST_ALGORITHMS, type ManifestAlgorithm, parseManifestLine } from "./manifest_line.ts";

/** A manifest that a check compares with. */
export const manifestRef = z.object({
  bucket: z.string(),
  key: z.string(),
  /** Prefix of keys to which its paths are relative. */
  root: z.string(),
  form: z.enum(["bagit", "tags", "folder", "list"]),
  algorithm: z.enum(MANIFEST_ALGORITHMS).nullable(),
  escapesPercent: z.boolean(),
  /** It must have while the check runs; null where the store says none. */
  etag: z.string().nullable(),
});
export type ManifestRef = z.output<typeof manifestRef>;

/** Keys of manifests that are held at a time, in the order of keys. */
const WINDOW_KEYS = 50_000;
/** Keys are held in excess, so that they are not sorted for each one: half as many more. */
const EXCESS = 1.5;

interface ManifestKeysOptions {
  readonly source: ReadSource;
  readonly manifests: readonly ManifestRef[];
  /** Keys outside of it are left out. */
  readonly prefix: string;
  /** Only keys behind it come; null: all. */
  readonly after: string | null;
  /** Called after each reading of a manifest. */
  readonly onRead: (manifest: ManifestRef, read: ManifestFigures) => void;
  /** Keys that are held at a time; {@link WINDOW_KEYS} when absent. */
  readonly windowKeys?: number;
}

/** Counts from one reading of a manifest. */
export interface ManifestFigures {
  /** Lines that name an object. */
  readonly entries: number;
  /** Lines that name none, or one that was named before with another digest. */
  readonly invalid: number;
}

/**
 * The keys that manifests name, in the order of keys, with their digests. A manifest may be longer than memory and in any
 * order: it is read again for each {@link WINDOW_KEYS} keys, of which the least are held that have not come yet.
 *
 * @throws HttpError 409 where a manifest was overwritten or deleted meanwhile; as `readObject`
 */
export async function* manifestKeys(options: ManifestKeysOptions): AsyncGenerator<Entry> {
  let { after } = options;
  for (;;) {
    const window = new Window(options.prefix, after, options.windowKeys ?? WINDOW_KEYS);
    for (const manifest of options.manifests) {
      const figures = await readInto(window, manifest, options.source);
      options.onRead(manifest, figures);
    }
    const keys = window.keys();
    for (const key of keys) yield expectedEntry(key, window.expectations(key));
    if (!window.isCut || keys.length === 0) return;
    after = keys[keys.length - 1];
  }
}

async function readInto(window: Window, manifest: ManifestRef, source: ReadSource): Promise<ManifestFigures> {
  const { bucket, key, root, etag } = manifest;
  // A retry may read the manifest from the start: reading a line twice changes nothing.
  const begin = () => {
    const figures = { entries: 0, invalid: 0 };
    const lines = new LineSplitter((text) => {
      const line = text === null ? "invalid" : parseManifestLine(text, manifest);
      if (line === "empty") return;
      const isTaken = line !== "invalid" && window.add(root + line.path, line.algorithm, line.expected);
      figures[isTaken ? "entries" : "invalid"]++;
    });
    return { figures, update: (chunk: Uint8Array) => lines.push(chunk), end: () => lines.end() };
  };
  try {
    const { receiver: { figures, end } } = await readObject(source, { bucket, key }, etag, begin);
    end();
    return figures;
  } catch (error) {
    throw manifestError(error, key);
  }
}

/** Errors that do not pass, in terms of the check. */
function manifestError(error: unknown, key: string): unknown {
  if (!(error instanceof HttpError)) return error;
  if (error.status === 412) {
    return codedError(409, "manifest_overwritten", { key });
  }
  return error.status === 404 ? codedError(409, "manifest_deleted", { key }) : error;
}

/** Digests of a key by their algorithms. */
type Digests = Partial<Record<ManifestAlgorithm, string>>;

const HIGH_UNIT = /[\ud800-\uffff]/;

/** Copies a text: a substring would keep the whole text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}

/** The least keys behind a given one. */
class Window {
  /** Whether keys came for which there was no room. */
  isCut = false;
  /** Keys from it on have no room; null: none yet. */
  #end: string | null = null;
  #digests = new Map<string, Digests>();
  #hasHighUnits = false;

  constructor(readonly prefix: string, readonly after: string | null, readonly size: number) {}

  /** @returns false where the key was named with another digest */
  add(key: string, algorithm: ManifestAlgorithm, expected: string): boolean {
    if (!key.startsWith(this.prefix)) return true;
    if (this.after !== null && compareText(key, this.after) <= 0) return true;
    if (this.#end !== null && compareText(key, this.#end) >= 0) return true;
    const digests = this.#digests.get(key);
    if (digests) {
      if ((digests[algorithm] ?? expected) !== expected) return false;
      digests[algorithm] = expected;
      return true;
    }
    this.#hasHighUnits ||= HIGH_UNIT.test(key);
    this.#digests.set(detached(key), { [algorithm]: detached(expected) });
    if (this.#digests.size > this.size * EXCESS) this.#cut();
    return true;
  }

  /** All that is held in the order of keys, cut to the size. */
  keys(): string[] {
    if (this.#digests.size > this.size) this.#cut();
    return this.#sortedKeys();
  }

  expectations(key: string): ExpectedDigest[] {
    const digests = this.#digests.get(key) ?? {};
    // The strongest first: the row of a report names it.
    return MANIFEST_ALGORITHMS.toReversed().flatMap((algorithm) => {
      const expected = digests[algorithm];
      return expected === undefined
        ? []
        : [{ proof: "manifest" as const, algorithm, expected, parts: null, etag: null }];
    });
  }

  /** The order of UTF-16 units is that of code points where there are none from the surrogates on, and quicker. */
  #sortedKeys(): string[] {
    const keys = [...this.#digests.keys()];
    return this.#hasHighUnits ? keys.sort(compareText) : keys.sort();
  }

  #cut(): void {
    const keys = this.#sortedKeys();
    this.#end = keys[this.size];
    this.isCut = true;
    this.#digests = new Map(keys.slice(0, this.size).map((key) => [key, this.#digests.get(key) ?? {}]));
  }
}
