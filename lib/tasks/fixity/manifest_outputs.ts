import { createHash } from "node:crypto";
import { HttpError } from "@/lib/http/errors.ts";
import {
  bagDeclaration,
  bagInfo,
  escapesPercent,
  isFitDeclaration,
  parseBagDeclaration,
  parsePayloadOxum,
  type PayloadOxum,
  withPayloadOxum,
} from "./bag_tags.ts";
import { bagItName, isPlainPath, manifestLine, pathOfLine, withPlainPercents } from "./manifest_line.ts";
import { mustReplaceNone, type Output, type PlannedOutput } from "./write_object.ts";

const TEXT = "text/plain; charset=utf-8";
const MANIFEST = "manifest-sha256.txt";
const TAG_MANIFEST = "tagmanifest-sha256.txt";
const DECLARATION = "bagit.txt";
const INFO = "bag-info.txt";
const DATA = "data/";

/** Where manifests are written, and of what. */
interface ManifestSource {
  /** The prefix that paths are relative to: empty, or ending with a slash. */
  readonly folder: string;
  /** Lines of all objects that were read, in chunks of whole lines. */
  readonly lines: () => AsyncIterable<string>;
  readonly plan: (output: Output) => Promise<PlannedOutput>;
  readonly write: (planned: PlannedOutput) => Promise<void>;
  /** Whether objects with other bytes may be replaced. */
  readonly overwrites: boolean;
}

interface BagSource extends ManifestSource {
  readonly payload: PayloadOxum;
  /** The bytes of a small file of the bag; null where there is none. */
  readonly read: (key: string) => Promise<Uint8Array<ArrayBuffer> | "too long" | null>;
  /** Whether the check has found that the prefix is a valid bag. */
  readonly isValidBag: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** The key of the manifest that a check of a prefix writes. */
export function manifestKey(folder: string): string {
  return folder + MANIFEST;
}

/**
 * Writes a manifest of all objects.
 *
 * @throws HttpError 409 where a name cannot be written, or an object with other bytes would be replaced; as `planOutput`
 *   and `writePlanned`
 */
export async function writeManifest({ folder, lines, plan, write, overwrites }: ManifestSource): Promise<void> {
  for await (const path of paths(lines())) mustBePlain(folder, path);
  const isOther = (path: string) => path !== MANIFEST;
  const planned = await plan({ key: manifestKey(folder), type: TEXT, text: () => chosen(lines(), isOther) });
  if (!overwrites) mustReplaceNone([planned]);
  await write(planned);
}

/**
 * Makes a bag of a prefix (RFC 8493): the manifest of its payload, bag-info.txt, the manifest of all files beside the
 * payload, and bagit.txt, which says that it is a bag, at last. Nothing is written where any of them cannot be.
 *
 * @throws HttpError 409 where nothing lies below `data/`, where the bag would contradict itself, and as {@link writeManifest}
 */
export async function writeBag(source: BagSource): Promise<void> {
  const { folder, lines, plan, write, payload, overwrites, isValidBag, now } = source;
  if (payload.files === 0) {
    throw new HttpError(409, `No bag was written: no object lies below '${folder}${DATA}'`, {
      coded: { code: "bag_without_payload", params: { key: folder + DATA } },
    });
  }
  const names = await namesOf(source);
  if (names.others.length > 0 && (overwrites || !isValidBag)) throw contradicted(folder, names.others);
  const declaration = await tagFile(source, DECLARATION, (text) => {
    const declared = text === null ? null : parseBagDeclaration(text);
    return declared && isFitDeclaration(declared, names) ? null : bagDeclaration(names);
  });
  const declared = parseBagDeclaration(declaration.text);
  const written = declared && !escapesPercent(declared) ? withPlainPercents : (line: string) => line;
  const isPayload = (path: string) => path.startsWith(DATA);
  const payloadText = () => chosen(lines(), isPayload, { written });
  const manifest = await plan({ key: folder + MANIFEST, type: TEXT, text: payloadText });
  const info = await tagFile(source, INFO, (text) => {
    if (text === null) return bagInfo(payload, now);
    const oxum = parsePayloadOxum(text);
    const isRight = oxum === null ||
      (oxum !== "invalid" && oxum.bytes === payload.bytes && oxum.files === payload.files);
    return isRight ? null : withPayloadOxum(text, payload);
  });
  const own = new Map([
    [MANIFEST, manifest.sha256],
    [INFO, info.sha256],
    [DECLARATION, declaration.sha256],
  ]);
  const ownLines = [...own].map(([name, sha256]) => manifestLine(sha256, name)).join("");
  // The lines of those are of what was there when the check read it.
  const isTag = (path: string) => !isPayload(path) && !/^tagmanifest-[^/]*\.txt$/i.test(path) && !own.has(path);
  const text = () => chosen(lines(), isTag, { written, last: ownLines });
  const tagManifest = await plan({ key: folder + TAG_MANIFEST, type: TEXT, text });
  const planned = [manifest, info.planned, tagManifest, declaration.planned].filter((one) => one !== null);
  if (!overwrites) mustReplaceNone(planned);
  for (const one of planned) await write(one);
}

/** What there is to know of the names of a bag. */
interface Names {
  /** Files of an earlier bag that new manifests may contradict. */
  readonly others: readonly string[];
  /** As {@link bagDeclaration}. */
  readonly hasPercent: boolean;
  readonly hasEscape: boolean;
}

/** Other files that are named where there are many. */
const MAX_NAMED = 10;

/** @throws HttpError 409 for a name that manifests cannot have */
async function namesOf({ folder, lines }: ManifestSource): Promise<Names> {
  const others: string[] = [];
  let hasPercent = false;
  let hasEscape = false;
  for await (const path of paths(lines())) {
    // Behind the digest of a bag's manifest come any number of blanks, or an asterisk.
    mustBePlain(folder, path, !/^[ \t*]/.test(path));
    hasPercent ||= path.includes("%");
    hasEscape ||= /%0[AD]/i.test(path);
    const isOwn = path === MANIFEST || path === TAG_MANIFEST;
    const isOther = !isOwn && (bagItName(path) !== null || path === "fetch.txt");
    if (isOther && others.length < MAX_NAMED) others.push(path);
  }
  return { others, hasPercent, hasEscape };
}

/** @throws HttpError 409 for a name that a manifest cannot have */
export function mustBePlain(folder: string, path: string, isReadable = true): void {
  if (isReadable && isPlainPath(path)) return;
  throw new HttpError(
    409,
    `No manifest was written: tools would read the name of the object '${folder}${path}' as that of another file`,
    { coded: { code: "not_written_name", params: { key: folder + path } } },
  );
}

function contradicted(folder: string, names: readonly string[]): HttpError {
  const keys = names.map((name) => `'${folder}${name}'`).join(", ");
  return new HttpError(
    409,
    `No bag was written: the new manifests may contradict ${keys}: delete what is out of date, or ask with bag and ` +
      "without overwrite, which compares them first",
    { coded: { code: "bag_contradicted", params: { keys } } },
  );
}

interface TagFile {
  readonly text: string;
  readonly sha256: string;
  /** Null: it stays as it is. */
  readonly planned: PlannedOutput | null;
}

/**
 * A file of a bag that may be there already.
 *
 * @param textOf what it is to say instead of what it says; null: the same
 */
async function tagFile(
  { folder, plan, read }: BagSource,
  name: string,
  textOf: (text: string | null) => string | null,
): Promise<TagFile> {
  const bytes = await read(folder + name);
  const found = bytes === null ? null : textIn(bytes);
  if (found === undefined) {
    throw new HttpError(409, `No bag was written: '${folder}${name}' is too long, or its text is not in UTF-8`, {
      coded: { code: "bag_file_unreadable", params: { key: folder + name } },
    });
  }
  const text = textOf(found);
  if (text === null) {
    return { text: found ?? "", sha256: createHash("sha256").update(bytes as Uint8Array).digest("hex"), planned: null };
  }
  const planned = await plan({ key: folder + name, type: TEXT, text: () => only(text) });
  return { text, sha256: planned.sha256, planned };
}

/** Undefined for what is not UTF-8. */
function textIn(bytes: Uint8Array | "too long"): string | undefined {
  if (bytes === "too long") return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The paths of lines. */
async function* paths(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* linesOf(chunk).map(pathOfLine);
}

interface ChosenLines {
  /** As a line is written. */
  readonly written?: (line: string) => string;
  /** What follows the lines. */
  readonly last?: string;
}

/** Lines by their paths. */
async function* chosen(
  chunks: AsyncIterable<string>,
  isChosen: (path: string) => boolean,
  { written = (line) => line, last = "" }: ChosenLines = {},
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    yield linesOf(chunk).filter((line) => isChosen(pathOfLine(line))).map((line) => `${written(line)}\n`).join("");
  }
  yield last;
}

function linesOf(chunk: string): string[] {
  return chunk.split("\n").filter((line) => line !== "");
}

async function* only(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}
