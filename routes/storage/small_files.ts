import { z } from "zod";
import { describeRequest, loggedMs, type RequestLog } from "@/lib/http/access_log.ts";
import { parseJson, readBytes } from "@/lib/http/body.ts";
import { HttpError, methodNotAllowed, unavailable, unprocessable } from "@/lib/http/errors.ts";
import { InFlight } from "@/lib/http/in_flight.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import {
  type BatchedFile,
  type BatchedResponse,
  batchParts,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
} from "@/lib/presentation/storage/file_batch.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { DOOR_PATH, gatewayTarget } from "@/lib/storage/door_path.ts";
import { accountName } from "@/lib/storage/storage_account.ts";
import type { StorageLogin } from "@/lib/storage/storage_cookie.ts";
import type { StorageDeps } from "./deps.ts";
import { requestHeaders, requireOwnPage } from "./door.ts";
import { requestedLogin } from "./requested_login.ts";

/** Longest body, bytes: each entry of the head names a key of up to 1024 bytes, escaped, and some headers. */
const MAX_BODY_BYTES = MAX_BATCH_BYTES + MAX_BATCH_FILES * 8 * 1024;
/** Longest response to one file that is passed on, bytes. */
const MAX_RESPONSE_BYTES = 16 * 1024;
/** Files that are sent to the gateway at a time. */
const AT_A_TIME = 8;
/** Bodies that are held at a time, of one account and in all: together up to {@link MAX_BODIES} times {@link MAX_BODY_BYTES}. */
const MAX_BODIES_PER_ACCOUNT = 8;
const MAX_BODIES = 32;
const RETRY_AFTER_SECONDS = 1;
/** The operation that writes an object, as pages reach it. */
const OBJECT_PATH = `${DOOR_PATH}buckets/:bucket/objects/:key`;

const HEAD = z.array(z.strictObject({
  bucket: z.string(),
  key: z.string(),
  headers: z.record(z.string(), z.string()),
  bytes: z.int().min(0),
})).max(MAX_BATCH_FILES);

/**
 * `POST /storage/api/small-files`: many small files by one request, each written by the gateway's operation for an object
 * as if it had come alone, and with a line of its own in the access log.
 *
 * It throws HttpError: 403 for a page of another site, 401 without a login, 503 before the body is read while as many are
 * held as may be, 413 and 422 for a body of another form. What the gateway responds to a file stands in the response's
 * list.
 */
export function smallFiles(deps: StorageDeps, log: RequestLog) {
  const bodies = { ofAccount: new InFlight(MAX_BODIES_PER_ACCOUNT), all: new InFlight(MAX_BODIES) };
  return async function smallFiles(context: RequestContext): Promise<Response> {
    context.operation = "storage_small_files";
    const { request, method, target } = context;
    let leave: (() => void) | null = null;
    try {
      if (method !== "POST") throw methodNotAllowed(["POST"]);
      requireOwnPage(context);
      const login = requestedLogin(deps, request, new URLSearchParams(target.query));
      if (login === null) throw new HttpError(401, "not logged in");
      leave = enter(bodies, accountName(login).toLowerCase());
      const files = filesOf(await readBytes(request, MAX_BODY_BYTES, Infinity));
      const responses: BatchedResponse[] = [];
      const put = async (index: number) => {
        responses[index] = await putFile(deps, log, files[index], login, context);
      };
      // The first one alone: where no token is cached, the others take the one that it has obtained.
      if (files.length > 0) await put(0);
      let next = 1;
      await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
        while (next < files.length) await put(next++);
      }));
      return Response.json(responses);
    } finally {
      leave?.();
      cancelBody(request);
    }
  };
}

interface Bodies {
  readonly ofAccount: InFlight;
  readonly all: InFlight;
}

/** Takes a slot for a body. @returns a function that releases it @throws HttpError 503 when none is free */
function enter({ ofAccount, all }: Bodies, account: string): () => void {
  const leaveAll = all.enter();
  const leaveAccount = leaveAll && ofAccount.enter(account);
  if (!leaveAccount) {
    leaveAll?.();
    throw unavailable("too many requests for small files at a time", RETRY_AFTER_SECONDS, "small_files_full");
  }
  return () => {
    leaveAccount();
    leaveAll();
  };
}

interface ReceivedFile extends BatchedFile {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** @throws HttpError 422 */
function filesOf(bytes: Uint8Array<ArrayBuffer>): ReceivedFile[] {
  const parts = batchParts(bytes);
  const head = HEAD.safeParse(parts && parseJson(parts.head));
  if (!parts || !head.success) throw unprocessable("the body does not begin with a list of files");
  let at = 0;
  const files = head.data.map((file) => ({ ...file, body: parts.rest.subarray(at, at += file.bytes) }));
  if (at !== parts.rest.length) throw unprocessable("the body is not as long as its files");
  return files;
}

async function putFile(
  { gateway }: StorageDeps,
  log: RequestLog,
  { bucket, key, headers, body }: ReceivedFile,
  login: StorageLogin,
  context: RequestContext,
): Promise<BatchedResponse> {
  const startedAt = performance.now();
  const query = new URLSearchParams({ bucket, key }).toString();
  const file = new RequestContext(context.request, { target: { path: OBJECT_PATH, query } });
  file.clientAddress = context.clientAddress;
  const result = await respond(async () => {
    const target = gatewayTarget(file.target);
    if (target === null) throw unprocessable("the file has no bucket or no key");
    const sent = requestHeaders(headersOf(headers));
    sent.set("Content-Length", String(body.length));
    const known = ({ operation, audit, caller }: Pick<RequestContext, "operation" | "audit" | "caller">) =>
      void Object.assign(file, { operation, audit, caller });
    return await gateway.send({ method: "PUT", target, headers: sent, body, readHere: true, known }, login, context);
  });
  const line = describeRequest("info", file);
  const duration_ms = loggedMs(performance.now() - startedAt);
  log.write({ ...line, request_id: context.requestId, method: "PUT", status: result.status, duration_ms });
  return result;
}

/** A response as the list holds it; an error of this role is one to this file alone. */
async function respond(send: () => Promise<Response>): Promise<BatchedResponse> {
  try {
    const response = await send();
    const { status, headers } = response;
    const text = await readCapped(response, MAX_RESPONSE_BYTES);
    return { status, text, etag: headers.get("ETag"), retryAfter: headers.get("Retry-After") };
  } catch (error) {
    const { status, detail, headers } = error instanceof HttpError ? error : new HttpError(502, "no response");
    return { status, text: JSON.stringify({ detail }), etag: null, retryAfter: headers?.["Retry-After"] ?? null };
  }
}

/** @throws HttpError 422 */
function headersOf(record: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers(record);
  } catch {
    throw unprocessable("the file has a header that cannot be sent");
  }
}
