import { getMimeType } from "hono/utils/mime";
import type { Coding } from "@/lib/http/header_values.ts";
import { percentDecoded } from "@/lib/std/text.ts";

/** An open file of the site. The caller streams it or closes it. */
export interface StaticFile {
  readonly type: string;
  /** How its bytes are compressed; null: not at all. */
  readonly coding: Coding | null;
  /** A browser would show it as a document that can run scripts. */
  readonly isDocument: boolean;
  /** Bytes. */
  readonly size: number;
  readonly modified: Date;
  /** Another one for each coding. */
  readonly etag: string;
  /** Its first bytes as text; the stream still contains them. */
  beginning(maxBytes: number): Promise<string>;
  /** All of it, closed at its end. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  close(): void;
}

/**
 * Opens a file below a folder by the rest of a raw request path; null when there is none. A path without an extension
 * stands for `<path>.html`. Nothing outside the folder is opened: no dot segments, no separators in disguise, no hidden
 * files, no links that lead out.
 *
 * @param coding the compressed form that is opened where it lies beside the file; null: none
 */
export async function openStaticFile(
  folder: string,
  rawPath: string,
  coding: Coding | null = null,
): Promise<StaticFile | null> {
  const path = safePath(rawPath);
  if (path === null) return null;
  const found = coding && await open(folder, path, coding) || await open(folder, path);
  return found ?? (/\.[^/]*$/.test(path) ? null : await open(folder, `${path}.html`));
}

/** The extensions of the compressed files that the build writes, the best first. */
export const CODED_EXTENSIONS: Readonly<Record<Coding, string>> = { br: "br", gzip: "gz" };

/** Characters of a path. */
const MAX_PATH = 1024;
/** Bytes of one segment: most disks take 255, of which `.html` needs five. */
const MAX_SEGMENT_BYTES = 250;

/** Types of files that a browser shows as documents, which can run scripts. */
const DOCUMENTS = /^(?:text\/html|image\/svg\+xml|application\/(?:xhtml\+)?xml)/;

/** A raw path decoded once and known to stay below where it starts; null otherwise. */
function safePath(raw: string): string | null {
  if (raw.length > MAX_PATH || /%(?:2f|5c)/i.test(raw)) return null;
  const path = percentDecoded(raw);
  if (path === null) return null;
  // A segment that starts with a dot is a hidden file, `.` or `..`.
  const isSafe = path.split("/").every((segment) => segment !== "" && !segment.startsWith(".") && fits(segment)) &&
    !/[\\\0]/.test(path);
  return isSafe ? path : null;
}

/** Whether a disk can hold a name, also with an extension behind it. */
function fits(segment: string): boolean {
  return new TextEncoder().encode(segment).length <= MAX_SEGMENT_BYTES;
}

async function open(folder: string, path: string, coding: Coding | null = null): Promise<StaticFile | null> {
  try {
    const root = await Deno.realPath(folder);
    const real = await Deno.realPath(coding ? `${root}/${path}.${CODED_EXTENSIONS[coding]}` : `${root}/${path}`);
    if (!real.startsWith(`${root}/`)) return null;
    const handle = await Deno.open(real);
    const info = await handle.stat();
    if (info.isFile) return staticFile(handle, info, path, coding);
    handle.close();
    return null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return null;
    // A path that goes on below a file, or links in a circle.
    if (error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.FilesystemLoop) return null;
    throw error;
  }
}

function staticFile(handle: Deno.FsFile, info: Deno.FileInfo, path: string, coding: Coding | null): StaticFile {
  const type = getMimeType(path) ?? "application/octet-stream";
  const modified = info.mtime ?? new Date(0);
  return {
    type,
    coding,
    isDocument: DOCUMENTS.test(type),
    size: info.size,
    modified,
    etag: `W/"${info.size.toString(36)}-${modified.getTime().toString(36)}${coding ? `-${coding}` : ""}"`,
    async beginning(maxBytes) {
      const bytes = new Uint8Array(Math.min(maxBytes, info.size));
      let length = 0;
      for (let read: number | null = 0; length < bytes.length && read !== null; length += read ?? 0) {
        read = await handle.read(bytes.subarray(length));
      }
      await handle.seek(0, Deno.SeekMode.Start);
      return new TextDecoder().decode(bytes.subarray(0, length));
    },
    stream: () => handle.readable,
    close: () => handle.close(),
  };
}
