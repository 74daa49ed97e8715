import { codedText } from "@/lib/pages/coded_sentences.ts";
import { type ApiParameters, storageApiPath } from "@/lib/pages/storage/storage_paths.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import type { PartPage, UploadPage } from "@/lib/s3/multipart.ts";

/** Why a step of an upload failed. */
type FaultKind =
  /** No response: the network, or a store that the browser does not reach. */
  | "lost"
  /** The store or the gateway is busy, or fails for the moment. */
  | "busy"
  /** The session has ended. */
  | "session"
  /** The page is older than the server, and the code that sends is gone. */
  | "outdated"
  | "forbidden"
  /** There is no such bucket. */
  | "no bucket"
  /** The upload in parts was ended elsewhere, or completed by a request whose response was lost. */
  | "gone"
  /** An object has the name. */
  | "taken"
  /** The store does not know the condition that nothing is overwritten. */
  | "no condition"
  /** No room in the store, or in its quota. */
  | "full"
  /** The file changed after it was chosen, or cannot be read. */
  | "unreadable"
  /** No object can be as long, or have the name. */
  | "too large"
  | "name too long"
  | "half a character"
  | "refused";

/** A step of an upload that failed. */
export class UploadFault extends Error {
  constructor(
    readonly kind: FaultKind,
    /** The message of the gateway or the store; null where there is none. */
    readonly detail: string | null = null,
    /** How long to wait as the response states it, ms; null where it does not. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(detail ?? kind);
  }

  /** Whether the file can never be sent. */
  get isFinal(): boolean {
    return this.kind === "too large" || this.kind === "name too long" || this.kind === "half a character";
  }

  /** Whether the same step may succeed a little later. */
  get isTransient(): boolean {
    return this.kind === "lost" || this.kind === "busy";
  }
}

/** A response to a step, of the store (XML) or of the gateway (JSON). */
interface StepResponse {
  /** 0: none came. */
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

const KIND_OF_STATUS: Readonly<Record<number, FaultKind>> = {
  0: "lost",
  401: "session",
  403: "forbidden",
  404: "gone",
  408: "busy",
  // A write of the same key at the same time (S3: ConditionalRequestConflict, OperationAborted).
  409: "busy",
  412: "taken",
  425: "busy",
  429: "busy",
  501: "no condition",
  507: "full",
};
/** Codes whose status says something else. */
const KIND_OF_CODE: Readonly<Record<string, FaultKind>> = {
  NoSuchBucket: "no bucket",
  // A body that is not the one of its checksum has been damaged on its way.
  BadDigest: "busy",
  XAmzContentChecksumMismatch: "busy",
  RequestTimeout: "busy",
  QuotaExceeded: "full",
  OutOfSpace: "full",
  XMinioStorageFull: "full",
};
const MAX_DETAIL_CHARACTERS = 300;
const MAX_RETRY_AFTER_SECONDS = 300;

/** The failure that a response to a step states. */
export function faultOf({ status, text, retryAfter }: StepResponse): UploadFault {
  const code = xmlText(text, "Code");
  const kind = KIND_OF_CODE[code ?? ""] ?? KIND_OF_STATUS[status] ?? (status >= 500 ? "busy" : "refused");
  const seconds = retryAfter !== null && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : null;
  const detail = xmlText(text, "Message") ?? (codedText(parsedJson(text), "detail") || null);
  return new UploadFault(
    kind,
    detail?.slice(0, MAX_DETAIL_CHARACTERS) ?? null,
    seconds === null ? null : Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000,
  );
}

/** A thrown value as a failure. */
export function asFault(error: unknown): UploadFault {
  if (error instanceof UploadFault) return error;
  const name = error instanceof Error ? error.name : "";
  if (name === "NotReadableError" || name === "NotFoundError") return new UploadFault("unreadable");
  return new UploadFault("refused", error instanceof Error ? error.message : null);
}

function xmlText(text: string, name: string): string | null {
  return new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(text)?.[1] ?? null;
}

/** An object, or an upload that is to become one. */
export interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

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

/** A part as the completion names it. */
export interface SentPart {
  readonly etag: string;
  /** In base64; null where the upload has no checksums. */
  readonly sha256: string | null;
}

/** A CORS rule of a bucket, as the gateway reads and writes it. */
export interface CorsRule {
  readonly ID?: string;
  readonly AllowedHeaders?: readonly string[] | null;
  readonly AllowedMethods?: readonly string[] | null;
  readonly AllowedOrigins?: readonly string[] | null;
  readonly ExposeHeaders?: readonly string[] | null;
  readonly MaxAgeSeconds?: number | null;
}

/** Longest wait for a response, ms; of a store that puts parts together, ms. */
const CALL_MS = 60_000;
const ASSEMBLY_MS = 660_000;
/** An address of our own server that needs no session, and the longest wait for its response, ms. */
const PING = "/healthz";
const PING_MS = 10_000;

const OBJECTS = "/buckets/:bucket/objects";
const OBJECT = `${OBJECTS}/:key`;
const MULTIPART = "/buckets/:bucket/multipart/:key";
const CORS = "/buckets/:bucket/cors";

/** The gateway's operations as an upload needs them. Each throws {@link UploadFault}, or the reason of its signal. */
export class UploadCalls {
  readonly #account: string;
  readonly #fetch: typeof fetch;

  constructor(account: string, fetch: (...request: Parameters<typeof globalThis.fetch>) => Promise<Response>) {
    this.#account = account;
    this.#fetch = fetch;
  }

  /** The address of the gateway to which an object is PUT. */
  objectAddress(name: ObjectName): string {
    return this.#addressOf(OBJECT, { ...name });
  }

  /** The address of the gateway to which a part is PUT. */
  partAddress(name: ObjectName, uploadId: string, part: number): string {
    return this.#addressOf(MULTIPART, { ...name, upload_id: uploadId, part_number: part });
  }

  /** A page of the objects of a bucket after a key. */
  async listObjects(bucket: string, prefix: string, after: string | null, signal: AbortSignal) {
    const parameters = { bucket, prefix, start_after: after ?? undefined };
    const { objects, is_truncated } = await this.#json<ObjectPage>("GET", OBJECTS, parameters, { signal });
    return { objects, isLast: !is_truncated };
  }

  /** The size of an object and its SHA-256, null where the store states none; null where there is no such object. */
  async headObject(name: ObjectName, signal: AbortSignal) {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    const response = await this.#send("HEAD", OBJECT, { ...name }, { headers, signal });
    if (response.status === 404) return null;
    if (!response.ok) throw await fault(response);
    const size = response.headers.get("content-length");
    return { bytes: size === null ? null : Number(size), sha256: response.headers.get("x-amz-checksum-sha256") };
  }

  async presignObject({ bucket, key }: ObjectName, known: BodyKnown, signal: AbortSignal): Promise<SignedUrl> {
    const objects = [{ key, checksum_sha256: known.sha256, content_type: known.contentType }];
    const call = { body: { objects, method: "put_object" }, signal };
    const { urls } = await this.#json<SignedUrls>("POST", `${OBJECTS}/presign`, { bucket }, call);
    return urls[0];
  }

  /** Begins an upload in parts. @returns its id */
  async createUpload(name: ObjectName, hasChecksums: boolean, contentType: string | null, signal: AbortSignal) {
    const body = { checksum_algorithm: hasChecksums ? "SHA256" : null, content_type: contentType };
    const { upload_id } = await this.#json<{ upload_id: string }>("POST", MULTIPART, { ...name }, { body, signal });
    return upload_id;
  }

  /** The URL to which a part is PUT. @param sha256 in base64; null: without */
  async presignPart(
    name: ObjectName,
    uploadId: string,
    { fileBytes, partBytes }: { readonly fileBytes: number; readonly partBytes: number },
    part: number,
    sha256: string | null,
    signal: AbortSignal,
  ): Promise<SignedUrl> {
    const body = {
      upload_id: uploadId,
      file_size: fileBytes,
      part_size: partBytes,
      part_numbers: [part],
      checksums: sha256 === null ? null : [{ part_number: part, sha256 }],
    };
    const { urls } = await this.#json<SignedUrls>("POST", `${MULTIPART}/presign`, { ...name }, { body, signal });
    return urls[0];
  }

  /** A page of the parts that an upload has. @param after the number of the last part before it; null: the first page */
  async listParts(name: ObjectName, uploadId: string, after: number | null, signal: AbortSignal): Promise<PartPage> {
    const parameters = { ...name, upload_id: uploadId, part_number_marker: after ?? undefined };
    return await this.#json("GET", `${MULTIPART}/parts`, parameters, { signal });
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
    await this.#json("POST", `${MULTIPART}/complete`, { ...name }, { body, headers, signal, mostMs: ASSEMBLY_MS });
  }

  /** Ends an upload and deletes its parts; one that is not there has ended. */
  async abort(name: ObjectName, uploadId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#json("POST", `${MULTIPART}/abort`, { ...name }, { body: { upload_id: uploadId }, signal });
    } catch (error) {
      if (!(error instanceof UploadFault) || error.kind !== "gone") throw error;
    }
  }

  /** A page of the uploads of a bucket that were begun and not ended. @param before the page before it; null: the first page */
  async listUploads(
    bucket: string,
    prefix: string,
    before: UploadPage | null,
    signal: AbortSignal,
  ): Promise<UploadPage> {
    const marker = before && {
      key_marker: before.next_key_marker ?? undefined,
      upload_id_marker: before.next_upload_id_marker ?? undefined,
    };
    return await this.#json("GET", "/buckets/:bucket/uploads", { bucket, prefix, ...marker }, { signal });
  }

  /** The CORS rules of a bucket; "none" where the store has no such rules. */
  async corsRules(bucket: string, signal: AbortSignal): Promise<readonly CorsRule[] | "none"> {
    const response = await this.#send("GET", CORS, { bucket }, { signal });
    if (response.status === 501 || response.status === 404) {
      await response.body?.cancel();
      return response.status === 501 ? "none" : [];
    }
    if (!response.ok) throw await fault(response);
    const { cors_rules } = await jsonOf<{ cors_rules: readonly CorsRule[] }>(response, signal);
    return cors_rules;
  }

  async setCorsRules(bucket: string, rules: readonly CorsRule[], signal: AbortSignal): Promise<void> {
    await this.#json("PUT", CORS, { bucket }, { body: { CORSRules: rules }, signal });
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

  #addressOf(operation: string, parameters: ApiParameters): string {
    return storageApiPath(operation, this.#account, parameters);
  }

  /** The JSON of the gateway, whose form its document states. */
  async #json<Json>(method: string, operation: string, parameters: ApiParameters, call: Call): Promise<Json> {
    const response = await this.#send(method, operation, parameters, call);
    if (!response.ok) throw await fault(response);
    return await jsonOf<Json>(response, call.signal);
  }

  /** @throws UploadFault `lost` without a response */
  async #send(method: string, operation: string, parameters: ApiParameters, call: Call): Promise<Response> {
    const { body, headers, signal, mostMs = CALL_MS } = call;
    try {
      return await this.#fetch(this.#addressOf(operation, parameters), {
        method,
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

interface SignedUrls {
  readonly urls: readonly SignedUrl[];
}

/** Facts about a body before it is sent. */
interface BodyKnown {
  readonly sha256: string | null;
  readonly contentType: string | null;
}

interface Call {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly mostMs?: number;
}

/** @throws UploadFault `lost` for a body that breaks off, `busy` for one that is not the gateway's */
async function jsonOf<Json>(response: Response, signal: AbortSignal): Promise<Json> {
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
