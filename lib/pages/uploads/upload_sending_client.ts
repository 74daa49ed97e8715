import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import {
  faultOf,
  insteadOf,
  isReachable,
  type Put,
  type PutRequest,
  type PutResponse,
  type SentPart,
  type UploadCalls,
  UploadFault,
} from "./upload_calls_client.ts";
import { MAX_HASHED_BYTES, partSpan, planParts, type UploadInParts, type UploadItem } from "./upload_items_client.ts";
import type { UploadJournal } from "./upload_journal_client.ts";
import type { UploadMemory } from "./upload_memory_client.ts";
import type { UploadRoutes } from "./upload_route_client.ts";

/** The SHA-256 of a body in base64; null where it is not computed. */
type Digest = (body: Blob | ArrayBuffer, signal: AbortSignal) => Promise<string | null>;

/** Bodies that are hashed at a time: each is in memory as a whole. */
const HASHED_AT_A_TIME = 2;

/**
 * Hashes by Web Crypto, which works outside of the page's thread. Without it, as on plain HTTP, nothing is hashed.
 *
 * @param mostBytes longest body that is read into memory
 */
export function webDigest(subtle: Pick<SubtleCrypto, "digest"> | undefined, mostBytes: number): Digest {
  const queue = new ReadQueue(HASHED_AT_A_TIME);
  return async (body, signal) => {
    if (!subtle || (body instanceof Blob && body.size > mostBytes)) return null;
    return await queue.run(async () => {
      const bytes = body instanceof Blob ? await body.arrayBuffer() : body;
      signal.throwIfAborted();
      return base64(await subtle.digest("SHA-256", bytes));
    }, { urgent: false, signal });
  };
}

function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

interface StepContext {
  readonly calls: UploadCalls;
  readonly put: Put;
  readonly digest: Digest;
  readonly journal: UploadJournal;
  readonly memory: UploadMemory;
  readonly routes: UploadRoutes;
  readonly claim: (uploadId: string) => Promise<boolean>;
}

/** Reports how many bytes of a body have left so far. */
type OnProgress = (sent: number) => void;

/** Types that a presigned URL can sign: ASCII without outer or double spaces. */
const SIGNED_TYPE = /^(?=.{1,255}$)[!-~]+(?: [!-~]+)*$/;

/**
 * The steps of an upload: each is one try, and throws {@link UploadFault} or the reason of the signal. Bytes go straight to
 * the store where this page reaches it, else through the gateway, which is decided for each try. URLs are signed just before
 * they are used, so none expires.
 */
export class UploadSteps {
  /** Whether the store rejects SHA-256 checksums. */
  #isUnchecked = false;

  constructor(private readonly context: StepContext) {}

  /** Sends a file by one PUT. */
  async sendWhole(item: UploadItem, signal: AbortSignal, onProgress: OnProgress): Promise<void> {
    const { calls, digest, routes } = this.context;
    const { key, file, size, ifAbsent } = item;
    // A slice has no type, which the browser would send.
    const body = file.slice(0, size);
    const sha256 = this.#isUnchecked ? null : await digest(body, signal);
    const contentType = typeOf(file);
    const isDirect = await routes.isDirect(key, size);
    const { url, headers } = isDirect
      ? await calls.presignObject(key, { sha256, contentType }, signal)
      : { url: calls.objectAddress(key), headers: bodyHeaders(sha256, contentType) };
    const condition: Record<string, string> = ifAbsent ? { "if-none-match": "*" } : {};
    try {
      await this.#put(isDirect, { url, headers: { ...headers, ...condition }, body, signal, onProgress });
    } catch (error) {
      if (!(error instanceof UploadFault)) throw error;
      if (error.kind === "taken" && item.mayBeWritten && await this.#isWritten(item, sha256, signal)) return;
      if (error.kind === "lost") item.mayBeWritten = true;
      const isCondition = ifAbsent && error.kind === "no condition";
      throw sha256 === null || isCondition ? error : this.#withoutChecksum(error);
    }
  }

  /** Starts the upload of a file in parts, or finds the one that an earlier page started. */
  async open(item: UploadItem, signal: AbortSignal): Promise<UploadInParts> {
    const { calls, memory, digest, claim } = this.context;
    const plan = planParts(item.size);
    if (item.earlier) {
      const { earlier } = item;
      const parts = await this.#arrived(item.key, earlier.uploadId, plan, signal).catch(insteadOf("gone", null));
      if (parts) return item.upload = { ...earlier, plan, parts };
      item.earlier = null;
      await memory.forget(item.key);
    }
    const hasChecksums = plan.partBytes <= MAX_HASHED_BYTES && !this.#isUnchecked &&
      await digest(new Blob(), signal) !== null;
    let uploadId: string;
    try {
      uploadId = await calls.createUpload(item.key, hasChecksums, typeOf(item.file), signal);
    } catch (error) {
      if (!(error instanceof UploadFault)) throw error;
      // No upload exists yet: only the bucket can be missing.
      if (error.kind === "gone") throw new UploadFault("no bucket", error.detail);
      throw hasChecksums ? this.#withoutChecksum(error) : error;
    }
    const upload = item.upload = { uploadId, hasChecksums, plan, parts: new Map() };
    await claim(uploadId);
    await memory.record(item, { uploadId, hasChecksums });
    return upload;
  }

  /** Sends one part. */
  async sendPart(
    item: UploadItem,
    upload: UploadInParts,
    number: number,
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<void> {
    const { calls, digest, journal, routes } = this.context;
    const { key, file, size } = item;
    const { uploadId, plan, hasChecksums } = upload;
    const { start, end } = partSpan(plan, number);
    const body = file.slice(start, end);
    const sha256 = hasChecksums ? await digest(body, signal) : null;
    const isDirect = await routes.isDirect(key, size);
    const target = isDirect
      ? await calls.presignPart(key, uploadId, plan, number, sha256, signal)
      : { url: calls.partAddress(key, uploadId, number), headers: bodyHeaders(sha256, null) };
    const { etag, text } = await this.#put(isDirect, { ...target, body, signal, onProgress });
    // Where the rules of the bucket expose no entity tag, the list of parts has it.
    const part = { etag: (isDirect ? etag : stringAt(parsedJson(text), "etag")) ?? "", sha256 };
    upload.parts.set(number, part);
    await journal.putPart(uploadId, number, part);
  }

  /** Puts the object together once all parts have arrived. */
  async complete(item: UploadItem, upload: UploadInParts, signal: AbortSignal): Promise<void> {
    const { calls } = this.context;
    const { uploadId, parts, plan } = upload;
    try {
      if ([...parts.values()].some(({ etag }) => etag === "")) await this.#fillTags(item.key, upload, signal);
      const sorted = [...parts].sort(([a], [b]) => a - b);
      if (sorted.length !== plan.parts) throw new UploadFault("gone");
      await calls.complete(item.key, uploadId, sorted, item.ifAbsent, signal);
    } catch (error) {
      if (!(error instanceof UploadFault)) throw error;
      const isOver = error.kind === "gone" || error.kind === "taken";
      if (isOver && item.mayBeWritten && await this.#isCompleted(item, upload, signal)) return;
      if (error.kind === "lost" || error.kind === "busy") item.mayBeWritten = true;
      throw error;
    }
  }

  /** A transient failure if the store rejects a request for its checksum: later ones have none. */
  #withoutChecksum(fault: UploadFault): UploadFault {
    if (!isUnknownChecksum(fault)) return fault;
    this.#isUnchecked = true;
    return new UploadFault("busy", fault.detail);
  }

  /** The parts that both the store and this browser know. @throws UploadFault `gone` for an upload that has ended */
  async #arrived(key: string, uploadId: string, plan: UploadInParts["plan"], signal: AbortSignal) {
    const { calls, journal } = this.context;
    const sent = await journal.parts(uploadId);
    const arrived = new Map<number, SentPart>();
    for await (const { PartNumber: number, ETag, Size } of calls.parts(key, uploadId, signal)) {
      const part = sent.get(number);
      const { start, end } = partSpan(plan, number);
      if (part && ETag !== null && sameTag(part.etag || ETag, ETag) && Size === end - start) {
        arrived.set(number, { ...part, etag: ETag });
      }
    }
    return arrived;
  }

  async #fillTags(key: string, { uploadId, parts }: UploadInParts, signal: AbortSignal): Promise<void> {
    for await (const { PartNumber: number, ETag } of this.context.calls.parts(key, uploadId, signal)) {
      const part = parts.get(number);
      if (part?.etag === "" && ETag !== null) parts.set(number, { ...part, etag: ETag });
    }
    for (const [number, { etag }] of parts) if (etag === "") parts.delete(number);
  }

  /** Whether the object is the file, after a request of which the response was lost. */
  async #isWritten({ key, size }: UploadItem, sha256: string | null, signal: AbortSignal): Promise<boolean> {
    const found = await this.context.calls.headObject(key, signal);
    if (found?.bytes !== size) return false;
    return sha256 === null || found.sha256 === null || found.sha256 === sha256;
  }

  /**
   * Whether the object is the file in these parts, by the checksum of their checksums.
   *
   * @throws UploadFault `taken` for an object of the same size of which that cannot be known, unless it is to be replaced
   */
  async #isCompleted(item: UploadItem, { parts, plan }: UploadInParts, signal: AbortSignal): Promise<boolean> {
    const found = await this.context.calls.headObject(item.key, signal);
    if (found?.bytes !== item.size) return false;
    const sums = [...parts].sort(([a], [b]) => a - b).flatMap(([, { sha256 }]) => sha256 === null ? [] : [sha256]);
    const all = await this.context.digest(
      Uint8Array.from(sums.map(atob).join(""), (one) => one.charCodeAt(0)).buffer,
      signal,
    );
    if (sums.length !== plan.parts || all === null || found.sha256 === null) {
      // A file that replaces another one is sent again.
      if (!item.ifAbsent) return false;
      throw new UploadFault("taken");
    }
    return found.sha256 === `${all}-${plan.parts}`;
  }

  async #put(isDirect: boolean, request: PutRequest): Promise<PutResponse> {
    const { put, routes } = this.context;
    const response = await put(request);
    if (response.status >= 200 && response.status < 300) {
      if (isDirect) routes.hasResponded();
      return response;
    }
    const fault = faultOf(response);
    if (fault.kind === "lost") {
      // The browser gives no reason. A file that can no longer be read is found by reading it.
      await request.body.slice(0, 1).arrayBuffer();
      if (isDirect && await isReachable(request.signal)) routes.hasNotResponded();
    }
    throw fault;
  }
}

function typeOf(file: File): string | null {
  return SIGNED_TYPE.test(file.type) ? file.type : null;
}

function bodyHeaders(sha256: string | null, contentType: string | null): Record<string, string> {
  return {
    // Without it, the browser names a type that the object would have.
    "content-type": contentType ?? "application/octet-stream",
    ...sha256 === null ? {} : { "x-amz-checksum-sha256": sha256 },
  };
}

/** Whether a store rejects a request for its checksum; it says so in its own words. */
function isUnknownChecksum({ kind, detail }: UploadFault): boolean {
  return (kind === "refused" || kind === "no condition") &&
    /checksum|x-amz-|header|not implemented/i.test(detail ?? "");
}

function sameTag(a: string, b: string): boolean {
  return a.replaceAll('"', "") === b.replaceAll('"', "");
}

/** Longest time without progress, ms. */
const IDLE_MS = 60_000;
/** Longest wait for the response once everything was sent, ms. */
const RESPONSE_MS = 180_000;
const MAX_TEXT_CHARACTERS = 10_000;

/** How files are sent: requests, checksums and steps. */
export interface Sending {
  readonly put: Put;
  readonly digest: Digest;
  readonly steps: (context: StepContext) => UploadSteps;
}

/** The requests, checksums and steps of a browser. */
export const browserSending: Sending = {
  put: browserPut,
  digest: webDigest(globalThis.crypto?.subtle, MAX_HASHED_BYTES),
  steps: (context) => new UploadSteps(context),
};

/** The browser reads the body from the disk as it goes. */
function browserPut({ url, headers = {}, body, signal, onProgress }: PutRequest): Promise<PutResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer: ReturnType<typeof setTimeout>;
    const within = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), ms);
    };
    const abort = () => request.abort();
    request.upload.onprogress = ({ loaded }) => {
      within(loaded < body.size ? IDLE_MS : RESPONSE_MS);
      onProgress(loaded);
    };
    request.onloadend = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      if (signal.aborted) return reject(signal.reason);
      const { status } = request;
      // Other origins expose no such header, and a browser reports an attempt to read it as an error.
      const isBusy = status === 503 || status === 429;
      resolve({
        status,
        text: status === 0 ? "" : request.responseText.slice(0, MAX_TEXT_CHARACTERS),
        etag: status === 0 ? null : request.getResponseHeader("ETag"),
        retryAfter: isBusy ? request.getResponseHeader("Retry-After") : null,
      });
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", abort);
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    within(IDLE_MS);
    request.send(body);
  });
}
