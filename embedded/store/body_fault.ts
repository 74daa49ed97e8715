import { createHash, type Hash } from "node:crypto";
import type { BodyLocation, NamedBody } from "./named_bodies.ts";
import type { Statements } from "./statements.ts";

/** How much of a file is read at a time. */
const READ_BYTES = 1024 * 1024;

/** How a stored body differs from its entry in the index, in a few words; null where every byte matches. */
export function bodyFault(folder: string, index: Statements, { size, etag, parts }: NamedBody): string | null {
  const whole = createHash("md5");
  let length = 0;
  for (const part of parts) {
    const hash = createHash("md5");
    const read = readPart(folder, index, part.location, hash);
    if (typeof read === "string") return read;
    const where = locationText(part.location);
    if (read !== part.size) return `${where} has ${read} bytes, not ${part.size}`;
    length += read;
    const digest = hash.digest("hex");
    if (/^[0-9a-f]{32}$/.test(etag)) {
      if (digest !== etag) return `${where} is damaged (its MD5 is ${digest}, not ${etag})`;
    } else whole.update(digest, "hex");
  }
  if (length !== size) return `its parts have ${length} bytes, not ${size}`;
  if (!/^[0-9a-f]{32}-[0-9]+$/.test(etag)) return null;
  const digest = `${whole.digest("hex")}-${parts.length}`;
  return digest === etag ? null : `one of its ${parts.length} parts is damaged (their MD5 is ${digest}, not ${etag})`;
}

/**
 * Feeds the bytes of a part to a digest.
 *
 * @returns their number, or the reason why they cannot be read
 */
function readPart(folder: string, index: Statements, location: BodyLocation, hash: Hash): number | string {
  if (location === null) return "it has no body";
  if ("body" in location) {
    const data = index.row("SELECT data FROM bodies WHERE id = ?", location.body)?.[0];
    if (!(data instanceof Uint8Array)) return `${locationText(location)} is missing`;
    hash.update(data);
    return data.length;
  }
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(`${folder}/${location.file}`, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `${location.file} is missing`;
    return `${location.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  }
  try {
    const buffer = new Uint8Array(READ_BYTES);
    let length = 0;
    for (let read: number | null; (read = file.readSync(buffer)) !== null; length += read) {
      hash.update(buffer.subarray(0, read));
    }
    return length;
  } catch (error) {
    return `${location.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  } finally {
    file.close();
  }
}

function locationText(location: BodyLocation): string {
  if (location === null) return "nothing";
  return "file" in location ? location.file : `row ${location.body} of the index`;
}
