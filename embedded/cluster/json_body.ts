import { BodyTooLong, ChunksTooSmall, readRequest, SlowBody, type TakeReader } from "@/lib/std/body_reader.ts";
import { isObject, member } from "@/lib/std/untrusted.ts";
import { ApiError, badRequest } from "./api_status.ts";

export type JsonObject = { [key: string]: unknown };

/** The largest body taken, the limit of the real API server. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 64;

/** A request's body, read when it is needed. */
export class RequestBody {
  readonly #request: Request;
  readonly #takeReader: TakeReader;

  constructor(request: Request, takeReader: TakeReader) {
    this.#request = request;
    this.#takeReader = takeReader;
  }

  /** The media type, in lower case and without parameters; "" without one. */
  get mediaType(): string {
    return (this.#request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  }

  /** One JSON object; an empty body reads as `{}`. @throws ApiError 400, 408 or 413 */
  async object(): Promise<JsonObject> {
    const content = await this.json("{}");
    if (!isObject(content)) throw badRequest("the body of the request is not a JSON object");
    return content;
  }

  /** Any JSON value; an empty body reads as the text `otherwise`. @throws ApiError 400, 408 or 413 */
  async json(otherwise = ""): Promise<unknown> {
    const bytes = await this.bytes();
    let content: unknown;
    try {
      content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes) || otherwise);
    } catch {
      throw badRequest("the body of the request is not JSON");
    }
    if (!isShallow(content)) throw badRequest("the body of the request is nested too deeply");
    return content;
  }

  /** @throws ApiError 400, 408 or 413 */
  async bytes(): Promise<Uint8Array> {
    return await readRequest(this.#request, { maxBytes: MAX_BODY_BYTES }, this.#takeReader).catch((error) => {
      if (error instanceof BodyTooLong) {
        throw new ApiError(413, "RequestEntityTooLarge", `limit is ${MAX_BODY_BYTES} bytes`);
      }
      if (error instanceof SlowBody) throw new ApiError(408, "Timeout", "the body of the request took too long");
      throw error instanceof ChunksTooSmall ? badRequest(`the body of the request: ${error.message}`) : error;
    });
  }
}

/** Whether a JSON value is nested no deeper than bodies may be. */
export function isShallow(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}

/** Whether a value is an object all of whose values are strings. */
export function isStringRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((member) => typeof member === "string");
}

/** A JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. Changes neither argument. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // `fromEntries` defines members, so that a key called `__proto__` stays a key.
  return Object.fromEntries(merged);
}

/** Equality of JSON values, whatever the order of members; absent and undefined are the same. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((element, index) => sameJson(element, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(member(a, key), member(b, key)));
}
