import { BrokenBody } from "@/embedded/store/bodies.ts";
import { isNoSpace, StoreError } from "@/embedded/store/store_error.ts";
import { ChunksTooSmall, SlowBody } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { escapeXml } from "./xml.ts";

/** Translates what an operation threw into S3's errors; an unexpected error is logged and becomes InternalError. */
export function asS3Error(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof BrokenBody) return new StoreError("IncompleteBody");
  if (error instanceof SlowBody) return new StoreError("RequestTimeout");
  if (error instanceof ChunksTooSmall) return new StoreError("InvalidRequest", `The body: ${error.message}`);
  if (isNoSpace(error)) return new StoreError("OutOfSpace");
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new StoreError("InternalError");
}

/** The response to an error: S3's XML, or no body where HTTP forbids one. */
export function s3ErrorResponse(
  error: StoreError,
  request: { method: string; id: string; resource: string },
): Response {
  const headers = new Headers({ ...error.headers, "x-amz-request-id": request.id });
  if (request.method === "HEAD" || error.status === 304) return new Response(null, { status: error.status, headers });
  headers.set("content-type", "application/xml");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.sentCode}</Code>` +
    `<Message>${escapeXml(error.message)}</Message>${nameElement(error, request.resource)}` +
    `<Resource>${escapeXml(request.resource)}</Resource>` +
    `<RequestId>${request.id}</RequestId><HostId>stackroom</HostId></Error>`;
  return new Response(body, { status: error.status, headers });
}

/** The element that names the bucket, or the key where the request has one and the bucket exists. */
function nameElement(error: StoreError, resource: string): string {
  const path = percentDecoded(resource.slice(1));
  if (path === null) return "";
  const slash = path.indexOf("/");
  const bucket = slash < 0 ? path : path.slice(0, slash);
  const key = slash < 0 ? "" : path.slice(slash + 1);
  if (bucket === "") return "";
  if (key !== "" && error.code !== "NoSuchBucket") return `<Key>${escapeXml(key)}</Key>`;
  return `<BucketName>${escapeXml(bucket)}</BucketName>`;
}
