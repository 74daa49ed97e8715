import type { RawTarget } from "./raw_path.ts";

/** What `Deno.serve` tells about the connection; absent where a test calls the app without a network. */
export interface RequestInfo {
  readonly remoteAddr?: Deno.Addr;
  /** Settles when the answer is sent to its last byte, or its client is gone. */
  readonly completed?: Promise<void>;
  /** Ends the connection at once, for a client that does not read; absent where the server has no hold on it. */
  breakOff?(): void;
  /** From one role of this process to another: the target as it came, which no `Request` that is made anew can hold. */
  readonly target?: RawTarget;
  /** From one role of this process to another: the body, which has been read. */
  readonly body?: Uint8Array<ArrayBuffer>;
}
