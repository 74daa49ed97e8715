import type { CorsRule } from "@/lib/presentation/storage/upload_cors.ts";
import { type PartPlan } from "@/lib/presentation/storage/upload_plan.ts";
import { faultOf, type StepResponse, UploadFault } from "./upload_fault.ts";

/** An object, or an upload that is to become one. */
export interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

/** The operations of the gateway that uploads use, by their ids. */
export type UploadOperation =
  | "list_objects"
  | "head_object"
  | "put_object"
  | "presign_objects"
  | "create_multipart_upload"
  | "presign_parts"
  | "upload_part"
  | "list_parts"
  | "complete_multipart_upload"
  | "abort_multipart_upload"
  | "list_uploads"
  | "get_bucket_cors"
  | "put_bucket_cors";

/** The address of an operation of the gateway for this page. Bucket and key stand in `query` where the path has none. */
export type AddressOf = (operation: UploadOperation, place: Partial<ObjectName>, query?: QueryRecord) => string;
type QueryRecord = Readonly<Record<string, string>>;

/** A presigned URL, and the headers that requests to it must have. */
export interface SignedUrl {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A body to be sent by PUT. */
export interface PutRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  /** @param sent bytes of the body that have left so far */
  readonly onProgress: (sent: number) => void;
}

/** The response to a PUT. */
export interface PutResponse extends StepResponse {
  /** With its quotes; null where the page may not read it. */
  readonly etag: string | null;
}

/** Sends a body. It throws only the signal's reason. */
export type Put = (request: PutRequest) => Promise<PutResponse>;

/** An object of a listing. */
interface ListedObject {
  readonly Key: string;
  readonly Size: number;
}

/** A part that the store has. */
interface ListedPart {
  readonly PartNumber: number;
  readonly ETag: string | null;
  readonly Size: number;
}

/** A part as the completion names it. */
export interface SentPart {
  readonly etag: string;
  /** In base64; null where the upload has no checksums. */
  readonly sha256: string | null;
}

/** An upload in parts that is neither completed nor aborted. */
interface OpenUpload {
  readonly Key: string;
  readonly UploadId: string;
  /** ISO 8601 in UTC. */
  readonly Initiated: string | null;
}

/** A page of a listing, and where the next one begins; null on the last. */
interface Page<Entry, Marker> {
  readonly entries: readonly Entry[];
  readonly next: Marker | null;
}

/** Longest wait for a response, ms; of a store that puts parts together, ms. */
const CALL_MS = 60_000;
const ASSEMBLY_MS = 660_000;
/** What our own server responds to without a session, and the longest wait for it, ms. */
const PING = "/healthz";
const PING_MS = 10_000;
const METHODS: Readonly<Record<UploadOperation, string>> = {
  list_objects: "GET",
  head_object: "HEAD",
  put_object: "PUT",
  presign_objects: "POST",
  create_multipart_upload: "POST",
  presign_parts: "POST",
  upload_part: "PUT",
  list_parts: "GET",
  complete_multipart_upload: "POST",
  abort_multipart_upload: "POST",
  list_uploads: "GET",
  get_bucket_cors: "GET",
  put_bucket_cors: "PUT",
};

/** The gateway's operations as an upload needs them. Each throws {@link UploadFault}, or the reason of its signal. */
export class UploadCalls {
  readonly addressOf: AddressOf;
  readonly #fetch: typeof fetch;

  constructor(addressOf: AddressOf, fetch: (...request: Parameters<typeof globalThis.fetch>) => Promise<Response>) {
    this.addressOf = addressOf;
    this.#fetch = fetch;
  }

  /** A page of the objects of a bucket after a key. */
  async listObjects(bucket: string, prefix: string, after: string | null, signal: AbortSignal) {
    const query = { prefix, ...after === null ? {} : { start_after: after } };
    const page = await this.#json("list_objects", { bucket }, { query, signal });
    const objects: readonly ListedObject[] = page.objects;
    return { objects, isLast: page.is_truncated !== true };
  }

  /** The size of an object and its SHA-256, null where the store states none; null where there is no such object. */
  async headObject(name: ObjectName, signal: AbortSignal) {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    const response = await this.#send("head_object", name, { headers, signal });
    if (response.status === 404) return null;
    if (!response.ok) throw await fault(response);
    const size = response.headers.get("content-length");
    return { bytes: size === null ? null : Number(size), sha256: response.headers.get("x-amz-checksum-sha256") };
  }

  async presignObject({ bucket, key }: ObjectName, known: BodyKnown, signal: AbortSignal): Promise<SignedUrl> {
    const objects = [{ key, checksum_sha256: known.sha256, content_type: known.contentType }];
    const body = { objects, method: "put_object" };
    const { urls } = await this.#json("presign_objects", { bucket }, { body, signal });
    return urls[0];
  }

  /** Begins an upload in parts. @returns its id */
  async createUpload(name: ObjectName, hasChecksums: boolean, contentType: string | null, signal: AbortSignal) {
    const body = { checksum_algorithm: hasChecksums ? "SHA256" : null, content_type: contentType };
    const query = { as: "object" };
    const { upload_id } = await this.#json("create_multipart_upload", name, { query, body, signal });
    return String(upload_id);
  }

  /** The URL to which a part is PUT. @param sha256 in base64; null: without */
  async presignPart(
    name: ObjectName,
    uploadId: string,
    plan: PartPlan,
    part: number,
    sha256: string | null,
    signal: AbortSignal,
  ): Promise<SignedUrl> {
    const body = {
      upload_id: uploadId,
      file_size: plan.fileBytes,
      part_size: plan.partBytes,
      part_numbers: [part],
      checksums: sha256 === null ? null : [{ part_number: part, sha256 }],
    };
    const { urls } = await this.#json("presign_parts", name, { body, signal });
    return urls[0];
  }

  /** A page of the parts that an upload has. */
  async listParts(
    name: ObjectName,
    uploadId: string,
    after: number | null,
    signal: AbortSignal,
  ): Promise<Page<ListedPart, number>> {
    const query = { upload_id: uploadId, ...after === null ? {} : { part_number_marker: String(after) } };
    const page = await this.#json("list_parts", name, { query, signal });
    return { entries: page.parts, next: page.is_truncated ? page.next_part_number_marker : null };
  }

  /** Puts the object together. @param ifAbsent not where an object has the name by now */
  async complete(
    name: ObjectName,
    uploadId: string,
    parts: readonly (readonly [number, SentPart])[],
    ifAbsent: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const body = {
      upload_id: uploadId,
      parts: parts.map(([PartNumber, { etag, sha256 }]) => ({ PartNumber, ETag: etag, ChecksumSHA256: sha256 })),
    };
    const headers: Record<string, string> = ifAbsent ? { "if-none-match": "*" } : {};
    await this.#json("complete_multipart_upload", name, { body, headers, signal, mostMs: ASSEMBLY_MS });
  }

  /** Ends an upload and deletes its parts; one that is not there has ended. */
  async abort(name: ObjectName, uploadId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#json("abort_multipart_upload", name, { body: { upload_id: uploadId }, signal });
    } catch (error) {
      if (!(error instanceof UploadFault) || error.kind !== "gone") throw error;
    }
  }

  /** A page of the uploads of a bucket that were begun and not ended. */
  async listUploads(
    bucket: string,
    prefix: string,
    after: UploadMarker | null,
    signal: AbortSignal,
  ): Promise<Page<OpenUpload, UploadMarker>> {
    const query = { prefix, ...after === null ? {} : { key_marker: after.key, upload_id_marker: after.uploadId } };
    const page = await this.#json("list_uploads", { bucket }, { query, signal });
    const next = page.is_truncated && page.next_key_marker !== null
      ? { key: String(page.next_key_marker), uploadId: String(page.next_upload_id_marker ?? "") }
      : null;
    return { entries: page.uploads, next };
  }

  /** The CORS rules of a bucket; "none" where the store has no such rules. */
  async corsRules(bucket: string, signal: AbortSignal): Promise<readonly CorsRule[] | "none"> {
    const response = await this.#send("get_bucket_cors", { bucket }, { signal });
    if (response.status === 501 || response.status === 404) {
      await response.body?.cancel();
      return response.status === 501 ? "none" : [];
    }
    if (!response.ok) throw await fault(response);
    const { cors_rules } = await body(response, signal);
    return cors_rules;
  }

  async setCorsRules(bucket: string, rules: readonly CorsRule[], signal: AbortSignal): Promise<void> {
    await this.#json("put_bucket_cors", { bucket }, { body: { CORSRules: rules }, signal });
  }

  /** Whether our own server responds at the moment. */
  async isReachable(signal: AbortSignal): Promise<boolean> {
    try {
      const bound = AbortSignal.any([signal, AbortSignal.timeout(PING_MS)]);
      const response = await this.#fetch(PING, { cache: "no-store", signal: bound });
      await response.body?.cancel();
      return response.status < 502 || response.status > 504;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  // deno-lint-ignore no-explicit-any -- the gateway's own responses, whose form its document states
  async #json(operation: UploadOperation, place: Partial<ObjectName>, call: Call): Promise<any> {
    const response = await this.#send(operation, place, call);
    if (!response.ok) throw await fault(response);
    return await body(response, call.signal);
  }

  /** @throws UploadFault `lost` without a response */
  async #send(operation: UploadOperation, place: Partial<ObjectName>, call: Call): Promise<Response> {
    const { query, body, headers, signal, mostMs = CALL_MS } = call;
    try {
      return await this.#fetch(this.addressOf(operation, place, query), {
        method: METHODS[operation],
        headers: { ...headers, ...body === undefined ? {} : { "content-type": "application/json" } },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(mostMs)]),
      });
    } catch {
      signal.throwIfAborted();
      throw new UploadFault("lost");
    }
  }
}

/** Where a page of open uploads begins. */
export interface UploadMarker {
  readonly key: string;
  readonly uploadId: string;
}

/** What is known of a body before it is sent. */
interface BodyKnown {
  readonly sha256: string | null;
  readonly contentType: string | null;
}

interface Call {
  readonly query?: QueryRecord;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly mostMs?: number;
}

/** @throws UploadFault `lost` for a body that breaks off, `busy` for one that is not the gateway's */
// deno-lint-ignore no-explicit-any -- see above
async function body(response: Response, signal: AbortSignal): Promise<any> {
  try {
    const json = JSON.parse(await response.text());
    if (typeof json === "object" && json !== null) return json;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SyntaxError)) throw new UploadFault("lost");
  }
  throw new UploadFault("busy");
}

async function fault(response: Response): Promise<UploadFault> {
  const text = await response.text().catch(() => "");
  return faultOf({ status: response.status, text, retryAfter: response.headers.get("retry-after") });
}
