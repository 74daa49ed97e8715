import { createHash, type Hash } from "node:crypto";
import type { BodyPlace, NamedBody } from "./named_bodies.ts";
import type { Statements } from "./statements.ts";

/** How much of a file is read at a time. */
const READ_BYTES = 1024 * 1024;

/** What of a stored body is not as the index says, in a few words; null where every byte is. */
export function bodyFault(folder: string, index: Statements, { size, etag, pieces }: NamedBody): string | null {
  const whole = createHash("md5");
  let length = 0;
  for (const piece of pieces) {
    const hash = createHash("md5");
    const read = readPiece(folder, index, piece.place, hash);
    if (typeof read === "string") return read;
    const where = shownPlace(piece.place);
    if (read !== piece.size) return `${where} has ${read} bytes, not ${piece.size}`;
    length += read;
    const digest = hash.digest("hex");
    if (/^[0-9a-f]{32}$/.test(etag)) {
      if (digest !== etag) return `${where} is damaged (its MD5 is ${digest}, not ${etag})`;
    } else whole.update(digest, "hex");
  }
  if (length !== size) return `its pieces have ${length} bytes, not ${size}`;
  if (!/^[0-9a-f]{32}-[0-9]+$/.test(etag)) return null;
  const digest = `${whole.digest("hex")}-${pieces.length}`;
  return digest === etag ? null : `one of its ${pieces.length} pieces is damaged (their MD5 is ${digest}, not ${etag})`;
}

/** Feeds the bytes of a piece to a digest and gives their number, or says why it cannot. */
function readPiece(folder: string, index: Statements, place: BodyPlace, hash: Hash): number | string {
  if (place === null) return "it has no body";
  if ("body" in place) {
    const data = index.row("SELECT data FROM bodies WHERE id = ?", place.body)?.[0];
    if (!(data instanceof Uint8Array)) return `${shownPlace(place)} is missing`;
    hash.update(data);
    return data.length;
  }
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(`${folder}/${place.file}`, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `${place.file} is missing`;
    return `${place.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  }
  try {
    const buffer = new Uint8Array(READ_BYTES);
    let length = 0;
    for (let read: number | null; (read = file.readSync(buffer)) !== null; length += read) {
      hash.update(buffer.subarray(0, read));
    }
    return length;
  } catch (error) {
    return `${place.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  } finally {
    file.close();
  }
}

function shownPlace(place: BodyPlace): string {
  if (place === null) return "nothing";
  return "file" in place ? place.file : `row ${place.body} of the index`;
}
