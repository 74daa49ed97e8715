import type { ObjectPart, StoredObject } from "@/embedded/store/objects.ts";
import type { ByteRange } from "./byte_range.ts";
import { checksumAlgorithmOf, type Checksums } from "./checksums.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Request } from "./s3_request.ts";
import { partNumber } from "./upload_parameters.ts";

/** One part of an object, and how many it has; null for an object that was not uploaded in parts. */
interface NumberedPart {
  /** Of an empty part, `last` is before `first`. */
  range: ByteRange;
  count: number | null;
  /** The checksum of the part; null where the upload had no algorithm. */
  checksums: Checksums | null;
}

/**
 * The part that a read selects by its number: the parts of an object count from 1 in their order, whatever the numbers
 * were that they were uploaded by, and an object that was not uploaded in parts is its own part 1 (S3 API, GetObject).
 * Null where the read selects none.
 *
 * @throws {S3Error} InvalidArgument, InvalidRequest beside a Range, or InvalidPartNumber
 */
export function numberedPart(request: S3Request, object: StoredObject): NumberedPart | null {
  if (request.parameter("partNumber") === null) return null;
  const number = partNumber(request);
  if (request.headers.has("range")) throw new S3Error("InvalidRequest", "partNumber and Range do not go together");
  const parts = object.parts();
  const sizes = parts?.map(({ size }) => size) ?? [object.size];
  if (number > sizes.length) throw new S3Error("InvalidPartNumber");
  const first = sizes.slice(0, number - 1).reduce((sum, size) => sum + size, 0);
  const range = { first, last: first + sizes[number - 1] - 1 };
  if (!parts) return { range, count: null, checksums: object.checksums };
  return { range, count: parts.length, checksums: partChecksums(object, parts[number - 1]) };
}

/** A part's own checksum with the type of the object's, as S3 shows it. */
function partChecksums(object: StoredObject, { checksum }: ObjectPart): Checksums | null {
  const algorithm = checksumAlgorithmOf(object);
  if (algorithm === null || checksum === undefined) return null;
  return { [algorithm]: checksum, ...(object.checksums?.type ? { type: object.checksums.type } : {}) };
}
