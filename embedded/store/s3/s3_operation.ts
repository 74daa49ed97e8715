import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Caller } from "./caller.ts";
import type { S3Request } from "./s3_request.ts";

/** One operation of S3: how a request for it is recognised, what it reads of the query, and what it does. */
export interface S3Operation {
  /** The operation's name in the S3 API. */
  readonly name: string;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly level: "service" | "bucket" | "object";
  /**
   * The query parameter that distinguishes it from others of its method and level, with its value where that matters.
   */
  readonly marker?: readonly [name: string, value?: string];
  /** A header that distinguishes it, such as `x-amz-copy-source`. */
  readonly header?: string;
  /** The query parameters it reads beside the marker; any other one is 501. */
  readonly parameters: readonly string[];
  readonly handle: (at: S3Call) => Response | Promise<Response>;
}

/** A request whose sender is known, and what it names; below its level, `bucket` and `key` are "". */
export interface S3Call {
  readonly store: StoreContext;
  readonly caller: Caller;
  readonly request: S3Request;
  readonly bucket: string;
  readonly key: string;
}
