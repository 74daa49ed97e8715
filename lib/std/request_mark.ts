import { createHmac, timingSafeEqual } from "node:crypto";

/** The header in which a gateway names the client's request to the store of its process. */
export const REQUEST_MARK_HEADER = "x-stackroom-request";

/** The request of a client that a gateway is working on. */
export interface MarkedRequest {
  /** Letters, digits, dots, underscores and hyphens. */
  readonly id: string;
  /** The client's IP address; null where it is unknown. */
  readonly address: string | null;
  /** Whether a background task sends it that this request started. The store reports its changes, object by object. */
  readonly isByTask?: boolean;
}

/** Writes and reads marks under a key that only the two sides know. */
export interface RequestMarks {
  write(request: MarkedRequest): string;
  /** Null for a mark that was not written with the key. */
  read(mark: string | null): MarkedRequest | null;
}

/** The origin of a request to the store. */
export interface SentFor {
  /** The client's request; absent for the program's own. */
  readonly request?: MarkedRequest;
  /** Whether the credentials are not verified yet: then reads are marked as well, since a failed login is recorded. */
  readonly isUnproven?: boolean;
}

/** Adds a mark to the headers of a request that the store records. */
export function markRequest(
  { mark }: { readonly mark?: RequestMarks["write"] },
  { request, isUnproven }: SentFor,
  method: string,
  headers: Record<string, string>,
): void {
  if (!mark || !request) return;
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || isUnproven) headers[REQUEST_MARK_HEADER] = mark(request);
}

/** Stands for an unknown address. */
const UNKNOWN = "-";
const MARK = /^(request|task) ([A-Za-z0-9._-]{1,128}) (-|[0-9A-Fa-f.:]{2,45}) ([0-9a-f]{64})$/;

/** Marks are `<sender> <id> <address> <HMAC-SHA256>`: readable by anyone, written only with the key. */
export function requestMarks(key: Uint8Array): RequestMarks {
  const signature = (text: string) => createHmac("sha256", key).update(`stackroom ${text}`).digest("hex");
  return {
    write({ id, address, isByTask }) {
      const text = `${isByTask ? "task" : "request"} ${id} ${address ?? UNKNOWN}`;
      return `${text} ${signature(text)}`;
    },
    read(mark) {
      const [, sender, id, address, stated] = MARK.exec(mark ?? "") ?? [];
      if (stated === undefined) return null;
      const [sent, own] = [stated, signature(`${sender} ${id} ${address}`)].map((text) =>
        new TextEncoder().encode(text)
      );
      if (!timingSafeEqual(sent, own)) return null;
      return { id, address: address === UNKNOWN ? null : address, isByTask: sender === "task" };
    },
  };
}
