import { codedText } from "@/lib/presentation/coded_sentences.ts";

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
  | "refused";

/** A step of an upload that failed. */
export class UploadFault extends Error {
  constructor(
    readonly kind: FaultKind,
    /** What the gateway or the store said; null where there is nothing to say. */
    readonly detail: string | null = null,
    /** How long to wait as the response states it, ms; null where it does not. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(detail ?? kind);
  }

  /** Whether the same step may succeed a little later. */
  get isTransient(): boolean {
    return this.kind === "lost" || this.kind === "busy";
  }
}

/** A response to a step, of the store (XML) or of the gateway (JSON). */
export interface StepResponse {
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
  const detail = xmlText(text, "Message") ?? jsonDetail(text);
  return new UploadFault(
    kind,
    detail?.slice(0, MAX_DETAIL_CHARACTERS) ?? null,
    seconds === null ? null : Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000,
  );
}

/** What was thrown, as a failure. */
export function asFault(error: unknown): UploadFault {
  if (error instanceof UploadFault) return error;
  const name = error instanceof Error ? error.name : "";
  if (name === "NotReadableError" || name === "NotFoundError") return new UploadFault("unreadable");
  return new UploadFault("refused", error instanceof Error ? error.message : null);
}

function xmlText(text: string, name: string): string | null {
  return new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(text)?.[1] ?? null;
}

function jsonDetail(text: string): string | null {
  if (!text.startsWith("{")) return null;
  try {
    return codedText(JSON.parse(text), "detail") || null;
  } catch {
    return null;
  }
}
