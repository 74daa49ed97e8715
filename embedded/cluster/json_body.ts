import { parse } from "yaml";
import { ChunksTooSmall } from "@/lib/runtime/burst_reader.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { BodyTooLong, SlowBody } from "@/lib/std/bounded_reader.ts";
import { readRequest } from "@/lib/runtime/request_body.ts";
import { ApiError, badRequest } from "./api_status.ts";
import type { JsonObject } from "./json_values.ts";

/** The largest body taken, the limit of the real API server. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 64;
/**
 * How YAML is read: with few aliases, which multiply its content; of a key that is repeated the last counts, since comparing
 * all of them takes the square of their number; and without warnings on standard error, which quote it.
 */
const YAML_OPTIONS = { maxAliasCount: 20, uniqueKeys: false, logLevel: "error" } as const;

/** Reads a request's body as one JSON object; an empty one reads as `{}`. Throws a 413 or a 400. */
export async function readJsonObject(request: Request): Promise<JsonObject> {
  return anObject(await readText(request), JSON.parse, "JSON");
}

/** Reads a request's body as one object in YAML, of which JSON is a part. Throws a 413 or a 400. */
export async function readYamlObject(request: Request): Promise<JsonObject> {
  const text = await readText(request);
  // JSON, which most clients send, is read as such: a hundred times faster.
  if (text.trimStart().startsWith("{")) return anObject(text, JSON.parse, "JSON");
  return anObject(text, (yaml) => parse(yaml, YAML_OPTIONS), "YAML");
}

/** Reads a body as JSON of any kind. Throws a 413 or a 400. */
export async function readJson(request: Request): Promise<unknown> {
  return checked(await readText(request), JSON.parse, "JSON");
}

/** Reads a request's body. Throws a 413. */
export async function readBytes(request: Request): Promise<Uint8Array> {
  return await readRequest(request, { maxBytes: MAX_BODY_BYTES }).catch((error) => {
    if (error instanceof BodyTooLong) {
      throw new ApiError(413, "RequestEntityTooLarge", `limit is ${MAX_BODY_BYTES} bytes`);
    }
    if (error instanceof SlowBody) throw new ApiError(408, "Timeout", "the body of the request took too long");
    throw error instanceof ChunksTooSmall ? badRequest(`the body of the request: ${error.message}`) : error;
  });
}

async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("the body of the request is not UTF-8");
  }
}

function anObject(text: string, read: (text: string) => unknown, language: string): JsonObject {
  if (text === "") return {};
  const content = checked(text, read, language);
  if (!isObject(content)) throw badRequest(`the body of the request is not a ${language} object`);
  return content;
}

function checked(text: string, read: (text: string) => unknown, language: string): unknown {
  let content: unknown;
  try {
    content = read(text);
  } catch {
    throw badRequest(`the body of the request is not ${language}`);
  }
  if (!isShallow(content)) throw badRequest("the body of the request is nested too deeply");
  return content;
}

/** Whether a JSON value is nested no deeper than bodies may be. */
export function isShallow(value: unknown): boolean {
  return shallowEnough(value, MAX_DEPTH);
}

function shallowEnough(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => shallowEnough(member, depth - 1));
}
