import { codedText } from "@/lib/pages/coded_sentences.ts";
import { type ApiResponse, callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
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
  /** The page is older than the server, which no longer has the code that sends. */
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
/** Codes that are more specific than their status. */
const KIND_OF_CODE: Readonly<Record<string, FaultKind>> = {
  NoSuchBucket: "no bucket",
  // The body was damaged on its way.
  BadDigest: "busy",
  XAmzContentChecksumMismatch: "busy",
  RequestTimeout: "busy",
  QuotaExceeded: "full",
  OutOfSpace: "full",
  XMinioStorageFull: "full",
};
const MAX_DETAIL_CHARACTERS = 300;
const MAX_RETRY_AFTER_SECONDS = 300;

/** The failure that a response to a step reports. @param json of the gateway */
export function faultOf({ status, text, retryAfter }: StepResponse, json = parsedJson(text)): UploadFault {
  const code = xmlText(text, "Code");
  const kind = KIND_OF_CODE[code ?? ""] ?? KIND_OF_STATUS[status] ?? (status >= 500 ? "busy" : "refused");
  const seconds = retryAfter !== null && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : null;
  const detail = xmlText(text, "Message") ?? (codedText(json, "detail") || null);
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

/** Catches one kind of failure. @returns a function that returns the value for it, and throws any other error */
export function insteadOf<Value>(kind: FaultKind, value: Value): (error: unknown) => Value {
  return (error) => {
    if (asFault(error).kind !== kind) throw error;
    return value;
  };
}

function xmlText(text: string, name: string): string | null {
  return new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(text)?.[1] ?? null;
}

/** A presigned URL, and the headers that requests to it must have. */
interface SignedUrl {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A body to be sent by PUT. */
export interface PutRequest extends SignedUrl {
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

/** For requests that nothing cancels. */
export const NEVER = new AbortController().signal;
/** Longest wait for a response, ms; of a store that puts parts together, ms. */
const CALL_MS = 60_000;
const ASSEMBLY_MS = 660_000;
/** An address of our own server that needs no session, and the longest wait for its response, ms. */
const PING = "/healthz";
const PING_MS = 10_000;

/** Whether our own server responds at the moment. @throws the signal's reason */
export async function isReachable(signal: AbortSignal): Promise<boolean> {
  try {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(PING_MS)]);
    const response = await fetch(PING, { cache: "no-store", signal: bound });
    await response.body?.cancel();
    return response.status < 502 || response.status > 504;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

const BUCKET = "/buckets/:bucket";
const OBJECTS = `${BUCKET}/objects`;
const OBJECT = `${OBJECTS}/:key`;
const MULTIPART = `${BUCKET}/multipart/:key`;
const CORS = `${BUCKET}/cors`;

type Call = NonNullable<Parameters<typeof callStorageApi>[3]>;

/**
 * The gateway's operations that uploads to a bucket need. Each throws {@link UploadFault}, of kind `lost` without a response
 * of the gateway, or the reason of its signal.
 */
export class UploadCalls {
  constructor(private readonly account: string, private readonly bucket: string) {}

  /** The address of the gateway to which an object is PUT. */
  objectAddress(key: string): string {
    return storageApiPath(OBJECT, this.account, { bucket: this.bucket, key });
  }

  /** The address of the gateway to which a part is PUT. */
  partAddress(key: string, uploadId: string, part: number): string {
    const parameters = { bucket: this.bucket, key, upload_id: uploadId, part_number: part };
    return storageApiPath(MULTIPART, this.account, parameters);
  }

  /** A page of the bucket's objects after a key. */
  async listObjects(prefix: string, after?: string): Promise<ObjectPage> {
    return await this.#json(OBJECTS, { prefix, start_after: after });
  }

  /** The size of an object and its SHA-256, null where the store states none; null where there is no such object. */
  async headObject(key: string, signal: AbortSignal) {
    const call = { method: "HEAD", headers: { "x-amz-checksum-mode": "ENABLED" }, signal };
    const answer = await this.#send(OBJECT, { key }, call).catch(insteadOf("gone", null));
    return answer && {
      bytes: Number(answer.headers.get("content-length") ?? NaN),
      sha256: answer.headers.get("x-amz-checksum-sha256"),
    };
  }

  async presignObject(key: string, known: BodyKnown, signal: AbortSignal): Promise<SignedUrl> {
    const objects = [{ key, checksum_sha256: known.sha256, content_type: known.contentType }];
    const { urls } = await this.#post<SignedUrls>(`${OBJECTS}/presign`, {}, { objects, method: "put_object" }, signal);
    return urls[0];
  }

  /** Starts an upload in parts. @returns its id */
  async createUpload(key: string, hasChecksums: boolean, contentType: string | null, signal: AbortSignal) {
    const body = { checksum_algorithm: hasChecksums ? "SHA256" : null, content_type: contentType };
    return (await this.#post<{ upload_id: string }>(MULTIPART, { key }, body, signal)).upload_id;
  }

  /** The URL to which a part is PUT. @param sha256 in base64; null: without */
  async presignPart(
    key: string,
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
    return (await this.#post<SignedUrls>(`${MULTIPART}/presign`, { key }, body, signal)).urls[0];
  }

  /** The parts of an upload that the store has. */
  async *parts(key: string, uploadId: string, signal: AbortSignal) {
    let after = 0;
    do {
      const parameters = { key, upload_id: uploadId, part_number_marker: after || undefined };
      const page: PartPage = await this.#json(`${MULTIPART}/parts`, parameters, { signal });
      yield* page.parts;
      const next = page.next_part_number_marker ?? 0;
      after = page.is_truncated && next > after ? next : 0;
    } while (after > 0);
  }

  /** Puts the object together. @param ifAbsent not where an object has the name by now */
  async complete(
    key: string,
    uploadId: string,
    parts: readonly (readonly [number, SentPart])[],
    ifAbsent: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const json = {
      upload_id: uploadId,
      parts: parts.map(([PartNumber, { etag, sha256 }]) => ({ PartNumber, ETag: etag, ChecksumSHA256: sha256 })),
    };
    const headers = ifAbsent ? { "if-none-match": "*" } : undefined;
    await this.#send(`${MULTIPART}/complete`, { key }, {
      method: "POST",
      json,
      headers,
      signal,
      timeoutMs: ASSEMBLY_MS,
    });
  }

  /** Ends an upload and deletes its parts; one that does not exist has ended. */
  async abort(key: string, uploadId: string): Promise<void> {
    await this.#post(`${MULTIPART}/abort`, { key }, { upload_id: uploadId }, NEVER).catch(insteadOf("gone", null));
  }

  /** A page of the bucket's uploads that were started and neither completed nor ended. @param before null: the first page */
  async listUploads(prefix: string, before: UploadPage | null): Promise<UploadPage> {
    const key_marker = before?.next_key_marker ?? undefined;
    const upload_id_marker = before?.next_upload_id_marker ?? undefined;
    return await this.#json(`${BUCKET}/uploads`, { prefix, key_marker, upload_id_marker });
  }

  /** The CORS rules of the bucket; "none" where the store has no such rules. */
  async corsRules(): Promise<readonly CorsRule[] | "none"> {
    return await this.#json<{ cors_rules: readonly CorsRule[] }>(CORS, {}).then(({ cors_rules }) => cors_rules)
      .catch(insteadOf("gone", [])).catch(insteadOf("no condition", "none" as const));
  }

  async setCorsRules(rules: readonly CorsRule[]): Promise<void> {
    await this.#send(CORS, {}, { method: "PUT", json: { CORSRules: rules } });
  }

  async #post<Json>(operation: string, parameters: ApiParameters, json: unknown, signal: AbortSignal): Promise<Json> {
    return await this.#json(operation, parameters, { method: "POST", json, signal });
  }

  async #json<Json>(operation: string, parameters: ApiParameters, call: Call = {}): Promise<Json> {
    return (await this.#send<Json>(operation, parameters, call)).json;
  }

  async #send<Json>(operation: string, parameters: ApiParameters, call: Call): Promise<ApiResponse<Json>> {
    const bounded = { timeoutMs: CALL_MS, handlesLogin: true, ...call };
    const named = { bucket: this.bucket, ...parameters };
    const answer = await callStorageApi<Json>(operation, this.account, named, bounded);
    const { status, headers, json } = answer;
    if (status >= 200 && status < 300) return answer;
    throw faultOf({ status, text: "", retryAfter: headers.get("retry-after") }, json);
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
