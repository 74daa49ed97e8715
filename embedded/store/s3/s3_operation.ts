import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Caller } from "./caller.ts";
import type { S3Request } from "./s3_request.ts";

/** One operation of S3 among those of its level and method: how a request for it is recognised, and what it does. */
export interface S3Operation {
  /** The query parameter that distinguishes it, and its value where that matters. */
  readonly marker?: string;
  readonly markerValue?: string;
  /** A header that distinguishes it, such as `x-amz-copy-source`. */
  readonly header?: string;
  /** The query parameters it reads beside the marker; any other one is 501. */
  readonly parameters?: readonly string[];
  readonly handle: (call: S3Call) => Response | Promise<Response>;
}

/** A request whose sender is known, and what it names; below its level, `bucket` and `key` are "". */
export interface S3Call {
  readonly store: StoreContext;
  readonly caller: Caller;
  readonly request: S3Request;
  readonly bucket: string;
  readonly key: string;
}
