import { BAG_DECLARATION, bagInfo } from "./bag_tags.ts";
import { manifestLine } from "./manifest_line.ts";
import type { Output, WrittenOutput } from "./write_object.ts";

const TEXT = "text/plain; charset=utf-8";
const MANIFEST = "manifest-sha256.txt";
const TAG_MANIFEST = "tagmanifest-sha256.txt";
const DATA = "data/";

/** Where manifests are written, and of what. */
interface ManifestSource {
  /** The prefix that paths are relative to: empty, or ending with a slash. */
  readonly folder: string;
  /** Lines of all objects that were read, in chunks of whole lines. */
  readonly lines: () => AsyncIterable<string>;
  readonly write: (output: Output) => Promise<WrittenOutput>;
  /** Whether there is an object. */
  readonly has: (key: string) => Promise<boolean>;
  /** ms since 1970 */
  readonly now: number;
}

/** The key of the manifest that a check of a prefix writes. */
export function manifestKey(folder: string): string {
  return folder + MANIFEST;
}

/** Writes a manifest of all objects. @throws as `writeOutput` */
export async function writeManifest({ folder, lines, write }: ManifestSource): Promise<WrittenOutput[]> {
  const isOther = (path: string) => path !== MANIFEST;
  return [await write({ key: manifestKey(folder), type: TEXT, text: () => chosen(lines(), isOther) })];
}

/**
 * Makes a bag of a prefix (RFC 8493): the manifest of its payload, bagit.txt and bag-info.txt where they are absent, and
 * the manifest of all files beside the payload.
 *
 * @returns null where nothing lies below `data/`
 * @throws as `writeOutput`
 */
export async function writeBag(
  source: ManifestSource,
  payload: { bytes: number; files: number },
): Promise<WrittenOutput[] | null> {
  const { folder, lines, write, has, now } = source;
  if (payload.files === 0) return null;
  const written: WrittenOutput[] = [];
  const tags = [["bagit.txt", BAG_DECLARATION], ["bag-info.txt", bagInfo(payload, now)]];
  for (const [name, text] of tags) {
    if (await has(folder + name)) continue;
    written.push(await write({ key: folder + name, type: TEXT, text: () => only(text) }));
  }
  const isPayload = (path: string) => path.startsWith(DATA);
  written.push(await write({ key: folder + MANIFEST, type: TEXT, text: () => chosen(lines(), isPayload) }));
  const own = new Map(written.map(({ key, sha256 }) => [key.slice(folder.length), sha256]));
  // Those that were written have no line, or one of other bytes.
  const isTag = (path: string) => !isPayload(path) && !/^tagmanifest-[^/]*\.txt$/i.test(path) && !own.has(path);
  const ownLines = [...own].map(([name, sha256]) => manifestLine(sha256, name)).join("");
  written.push(
    await write({ key: folder + TAG_MANIFEST, type: TEXT, text: () => chosen(lines(), isTag, ownLines) }),
  );
  return written;
}

/** Lines by their paths, which are compared as they are written: escapes do not matter here. */
async function* chosen(
  chunks: AsyncIterable<string>,
  isChosen: (path: string) => boolean,
  last = "",
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    yield chunk.split("\n").filter((line) => line !== "" && isChosen(line.slice(PATH_AT))).map((line) => `${line}\n`)
      .join("");
  }
  yield last;
}

/** Where the path of a line begins: behind a SHA-256 and two blanks. */
const PATH_AT = 66;

async function* only(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}
