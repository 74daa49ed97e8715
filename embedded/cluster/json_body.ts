import { BodyTooLong, ChunksTooSmall, readRequest, SlowBody, type TakeReader } from "@/lib/std/body_reader.ts";
import { isObject, member } from "@/lib/std/untrusted.ts";
import { ApiError, badRequest } from "./api_status.ts";

export type JsonObject = { [key: string]: unknown };

/** The largest body taken, the limit of the real API server. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 64;

/** A request's body, read when it is needed. */
export class RequestBody {
  constructor(private readonly request: Request, private readonly takeReader: TakeReader) {}

  /** The media type, in lower case and without parameters; "" without one. */
  get mediaType(): string {
    return (this.request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
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
    return await readRequest(this.request, { maxBytes: MAX_BODY_BYTES }, this.takeReader).catch((error) => {
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

/** Limit of the operations of a patch, like in the real API server. */
const MAX_OPERATIONS = 10_000;
/** Limit of all copies of a patch, characters of JSON: each copy could double the document. */
const MAX_COPIED = 3 * 1024 * 1024;
/** Limit of list elements that all operations of a patch shift: about 0.25 s of work. Without it 10,000 operations took 30 s. */
const MAX_SHIFTED = 100_000_000;

/** Applies a JSON patch (RFC 6902) and returns the result; changes neither argument. @throws ApiError 400, 413, or 422 when it does not apply */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  if (patch.length > MAX_OPERATIONS) throw tooLarge(`a JSON patch may have at most ${MAX_OPERATIONS} operations`);
  const document = new PatchedDocument(structuredClone(target));
  for (const step of patch) document.apply(step);
  return document.root;
}

/** A copied document that operations change in place: copying the path at each operation would take quadratic time. */
class PatchedDocument {
  #copied = 0;
  #shifted = 0;

  constructor(public root: unknown) {}

  apply(step: unknown): void {
    if (!isObject(step)) throw badRequest("an operation of a JSON patch is an object");
    const path = pointer(step, "path");
    const { op } = step;
    if (op === "remove") return this.#remove(path);
    if (op === "copy") return this.#add(path, this.#copy(pointer(step, "from")));
    if (op === "move") {
      const from = pointer(step, "from");
      const moved = this.#found(from);
      this.#remove(from);
      return this.#add(path, moved);
    }
    if (op === "test") {
      if (sameJson(this.#found(path), valueOf(step))) return;
      throw misfit(`testing ${step.path} failed`);
    }
    if (op === "add") return this.#add(path, structuredClone(valueOf(step)));
    if (op === "replace") {
      this.#found(path);
      return this.#add(path, structuredClone(valueOf(step)), true);
    }
    throw badRequest("op: add, remove, replace, move, copy or test");
  }

  #found(path: readonly string[]): unknown {
    return path.reduce(memberOf, this.root);
  }

  #copy(path: readonly string[]): unknown {
    const text = JSON.stringify(this.#found(path));
    this.#copied += text.length;
    if (this.#copied > MAX_COPIED) {
      throw tooLarge(`the copies of a JSON patch may have ${MAX_COPIED} characters in all`);
    }
    return JSON.parse(text);
  }

  /** `isThere`: the value takes the place of a present one. */
  #add(path: readonly string[], value: unknown, isThere = false): void {
    const name = path.at(-1);
    if (name === undefined) {
      this.root = value;
      return;
    }
    const parent = this.#found(path.slice(0, -1));
    if (Array.isArray(parent)) {
      const index = name === "-" ? parent.length : elementAt(parent, name, true);
      if (isThere) parent[index] = value;
      else this.#splice(parent, index, 0, value);
    } else setMember(parent, name, value);
  }

  #remove(path: readonly string[]): void {
    const name = path.at(-1);
    if (name === undefined) throw misfit("the whole object cannot be removed");
    const parent = this.#found(path.slice(0, -1));
    if (Array.isArray(parent)) this.#splice(parent, elementAt(parent, name, false), 1);
    else if (isObject(parent) && Object.hasOwn(parent, name)) delete parent[name];
    else missing(name);
  }

  #splice(list: unknown[], index: number, removed: number, ...added: unknown[]): void {
    this.#shifted += list.length - index;
    if (this.#shifted > MAX_SHIFTED) {
      throw tooLarge(`a JSON patch may shift at most ${MAX_SHIFTED} elements of lists in all`);
    }
    list.splice(index, removed, ...added);
  }
}

function valueOf(step: Record<string, unknown>): unknown {
  if (!Object.hasOwn(step, "value")) throw badRequest(`${step.op} without a value`);
  return step.value;
}

function memberOf(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return parent[elementAt(parent, name, false)];
  return isObject(parent) && Object.hasOwn(parent, name) ? parent[name] : missing(name);
}

/** Sets a member of any name: an assignment to `__proto__` would set something else. */
function setMember(parent: unknown, name: string, value: unknown): void {
  if (!isObject(parent)) missing(name);
  Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A JSON pointer (RFC 6901). */
function pointer(step: Record<string, unknown>, member: "path" | "from"): string[] {
  const text = step[member];
  if (typeof text !== "string" || !/^(\/([^~/]|~[01])*)*$/.test(text)) {
    throw badRequest(`${member}: not a JSON pointer`);
  }
  return text.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function elementAt(list: readonly unknown[], name: string, mayBeEnd: boolean): number {
  const index = /^(0|[1-9]\d{0,8})$/.test(name) ? Number(name) : Infinity;
  return index < list.length || (mayBeEnd && index === list.length) ? index : missing(name);
}

function missing(name: string): never {
  throw misfit(`there is no ${JSON.stringify(name)} at the path`);
}

function misfit(why: string): ApiError {
  return new ApiError(422, "Invalid", `the JSON patch does not fit: ${why}`);
}

function tooLarge(why: string): ApiError {
  return new ApiError(413, "RequestEntityTooLarge", why);
}
