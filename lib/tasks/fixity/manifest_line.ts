import { Buffer } from "node:buffer";

/** Algorithms of manifests, with the bytes of their digests. */
const DIGEST_BYTES = { md5: 16, sha1: 20, sha256: 32, sha512: 64 } as const;
export const MANIFEST_ALGORITHMS = ["md5", "sha1", "sha256", "sha512"] as const;
export type ManifestAlgorithm = (typeof MANIFEST_ALGORITHMS)[number];

/** How to read a manifest. */
interface ManifestSyntax {
  /**
   * `bagit` for payload manifests and `tags` for tag manifests (RFC 8493, sections 2.1.3 and 2.2.1), `folder` for lines of
   * the same syntax about a folder that is no bag, `list` for what md5sum, sha1sum, sha256sum and sha512sum write.
   */
  readonly form: "bagit" | "tags" | "folder" | "list";
  /** Null: each line's by the length of its digest. */
  readonly algorithm: ManifestAlgorithm | null;
  /** Whether `%25` stands for a percent sign: since BagIt 1.0. */
  readonly escapesPercent: boolean;
}

/** A parsed line of a manifest. */
interface ManifestLine {
  /** Relative to the root of the manifest, without a leading "./". */
  readonly path: string;
  readonly algorithm: ManifestAlgorithm;
  /** Hexadecimal in lower case. */
  readonly expected: string;
}

/** The algorithm and form of a manifest by the name of its file; null for a name that BagIt does not give. */
export function bagItName(name: string): { algorithm: ManifestAlgorithm | null; form: "bagit" | "tags" } | null {
  const [, tag, algorithm] = /^(tag)?manifest-([a-z0-9-]{1,20})\.txt$/i.exec(name) ?? [];
  if (algorithm === undefined) return null;
  const plain = algorithm.toLowerCase().replace("-", "");
  const known = MANIFEST_ALGORITHMS.find((one) => one === plain) ?? null;
  return { algorithm: known, form: tag ? "tags" : "bagit" };
}

/**
 * Reads a line of a manifest, without its line end.
 *
 * @returns `empty` for a line without content, `invalid` for one that names no object
 */
export function parseManifestLine(line: string, syntax: ManifestSyntax): ManifestLine | "empty" | "invalid" {
  if (!/\S/.test(line)) return "empty";
  return syntax.form === "list" ? listLine(line, syntax) : bagLine(line, syntax);
}

function bagLine(line: string, { form, algorithm, escapesPercent }: ManifestSyntax): ManifestLine | "invalid" {
  // A blank and an asterisk are the binary mark of md5sum and similar tools. Outside of bags a path may start with a blank.
  const parts = form === "bagit"
    ? /^([0-9a-f]{32,128})(?: \*|[ \t]+)(.+)$/is
    : /^([0-9a-f]{32,128})(?: [ *]|[ \t]+)(.+)$/is;
  const [, digest, rest] = parts.exec(line) ?? [];
  if (digest === undefined) return "invalid";
  const path = withoutRoot(rest.includes("%") ? withoutBagEscapes(rest, escapesPercent) : rest);
  if (form !== "folder" && path.startsWith("data/") !== (form === "bagit")) return "invalid";
  return lineOf(digest, path, algorithm);
}

/** Removes a leading "./". */
function withoutRoot(path: string): string {
  return path.startsWith("./") ? path.replace(/^(?:\.\/)+/, "") : path;
}

/** In BagIt LF, CR and, since 1.0, the percent sign are written with a percent sign; nothing else is. */
function withoutBagEscapes(path: string, escapesPercent: boolean): string {
  return path.replace(/%(0A|0D|25)/gi, (text, code: string) => {
    if (code === "25") return escapesPercent ? "%" : text;
    return code.toUpperCase() === "0A" ? "\n" : "\r";
  });
}

function listLine(line: string, { algorithm }: ManifestSyntax): ManifestLine | "empty" | "invalid" {
  if (line.startsWith("#")) return "empty";
  // A backslash before the digest says that the name has escapes.
  const isEscaped = line.startsWith("\\");
  const text = isEscaped ? line.slice(1) : line;
  const [, digest, name] = /^([0-9a-f]{32,128}) [ *](.+)$/is.exec(text) ??
    reordered(/^(?:MD5|SHA1|SHA256|SHA512) \((.+)\) = ([0-9a-f]{32,128})$/is.exec(text)) ?? [];
  if (digest === undefined) return "invalid";
  const path = isEscaped ? withoutListEscapes(name) : name;
  return path === null ? "invalid" : lineOf(digest, path, algorithm);
}

function reordered(tagged: RegExpExecArray | null): readonly string[] | null {
  return tagged && [tagged[0], tagged[2], tagged[1]];
}

/** Undoes the escapes of GNU coreutils for line ends and backslashes; null for any other escape. */
function withoutListEscapes(name: string): string | null {
  let isKnown = true;
  const plain = name.replace(/\\(.?)/gs, (_, code: string) => {
    if (code === "n") return "\n";
    if (code === "r") return "\r";
    if (code === "\\") return "\\";
    isKnown = false;
    return "";
  });
  return isKnown ? plain : null;
}

function lineOf(digest: string, path: string, algorithm: ManifestAlgorithm | null): ManifestLine | "invalid" {
  const found = algorithm ?? MANIFEST_ALGORITHMS.find((one) => DIGEST_BYTES[one] * 2 === digest.length);
  if (found === undefined || digest.length !== DIGEST_BYTES[found] * 2) return "invalid";
  const relative = withoutRoot(path);
  if (!isInside(relative)) return "invalid";
  return { path: relative, algorithm: found, expected: digest.toLowerCase() };
}

/** Whether a path stays below its root: a store would have `..` in a key, a file system would leave the folder. */
function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.includes("\0") && !/(?:^|\/)\.\.?(?:\/|$)/.test(path);
}

/** A line of a BagIt manifest with its line end. @param path relative to the bag */
export function manifestLine(digest: string, path: string): string {
  return `${digest}  ${path.replace(/[%\n\r]/g, (sign) => BAG_ESCAPES[sign] ?? sign)}\n`;
}

const BAG_ESCAPES: Readonly<Record<string, string>> = { "%": "%25", "\n": "%0A", "\r": "%0D" };

/** Longest line that is read, bytes: a digest and a key of 1024 bytes, each written as three. */
const MAX_LINE_BYTES = 8 * 1024;

/**
 * Splits chunks of UTF-8 into lines, which end with LF, CR LF or CR, and drops a byte order mark. It buffers one line at
 * most.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #isFirst = true;
  /** The incomplete last line, a character for each byte. */
  #rest = "";
  /** Whether the last byte was a CR, with which an LF belongs together. */
  #isBehindCr = false;

  /** @param onLine receives each line without its end; null for one that is too long or is not UTF-8 */
  constructor(private readonly onLine: (line: string | null) => void) {}

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
    const lines = text.slice(this.#isBehindCr && text.startsWith("\n") ? 1 : 0).split(/\r\n|[\r\n]/);
    this.#isBehindCr = text.endsWith("\r");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#report(this.#rest + line);
      this.#rest = "";
    }
    // One byte more shows that the line is too long.
    this.#rest = (this.#rest + rest).slice(0, MAX_LINE_BYTES + 1);
  }

  /** Reports what stands behind the last line end. */
  end(): void {
    if (this.#rest !== "") this.#report(this.#rest);
  }

  #report(bytes: string): void {
    const line = bytes.length > MAX_LINE_BYTES ? null : this.#decoded(bytes);
    this.onLine(this.#isFirst && line !== null ? line.replace(/^\ufeff/, "") : line);
    this.#isFirst = false;
  }

  #decoded(bytes: string): string | null {
    if (!/[\x80-\xff]/.test(bytes)) return bytes;
    try {
      return this.#decoder.decode(Buffer.from(bytes, "latin1"));
    } catch {
      return null;
    }
  }
}
