import type { StepResponse } from "./upload_fault.ts";

/** A body to be sent by PUT. */
export interface PutRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes in memory are for small files: of a slice of a file, the browser reads as much as it sends. */
  readonly body: Blob | ArrayBuffer;
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
