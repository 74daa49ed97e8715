import { jsonDepth } from "@/lib/std/json_depth.ts";
import { BodyTooLong } from "@/lib/std/bounded_reader.ts";
import { readRequest } from "@/lib/runtime/request_body.ts";
import { SHORT_BODY_MS } from "@/lib/std/time_bounds.ts";
import { unreadable } from "./body_source.ts";
import { HttpError, invalid, payloadTooLarge } from "./errors.ts";

/** Largest JSON body, bytes. */
const MAX_JSON_BYTES = 1024 * 1024;
/** Deepest nesting of a JSON body: far beyond every record, and shallow enough for whatever walks through it. */
const MAX_JSON_DEPTH = 64;
/** Largest form body, bytes. */
const MAX_FORM_BYTES = 16 * 1024;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * A JSON body whatever its content type says; undefined when there is none.
 *
 * @throws HttpError 413 above `limitBytes`, 422 when it is not JSON in UTF-8 or too deep, 408 when it takes over 30 s,
 *   499 when the client leaves
 */
export async function readJson(request: Request, limitBytes: number = MAX_JSON_BYTES): Promise<unknown> {
  return parseJson(await readBytes(request, limitBytes));
}

/** Whether a message says that its body is JSON. */
export function isJson(headers: Headers): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/** A JSON body; undefined when it is empty. @throws HttpError 422 when it is not JSON in UTF-8 or too deep */
export function parseJson(bytes: Uint8Array<ArrayBuffer>): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = STRICT_UTF8.decode(bytes);
  } catch {
    throw notJson(0, "not UTF-8");
  }
  if (jsonDepth(text) > MAX_JSON_DEPTH) throw notJson(0, `nested deeper than ${MAX_JSON_DEPTH}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : "");
    throw notJson(position ? Number(position[1]) : text.length, "not JSON");
  }
}

/**
 * The text fields of a form, urlencoded or multipart; an empty field counts as absent, the last of repeated ones
 * counts, files are ignored. A body of another type has no fields.
 *
 * @throws HttpError 413 above {@link MAX_FORM_BYTES}, 400 when a multipart body is malformed, 408, 499
 */
export async function readForm(request: Request): Promise<Map<string, string>> {
  // Read now: the headers of a request cannot be read once its client has disconnected.
  const type = request.headers.get("Content-Type") ?? "";
  return await parseForm(await readBytes(request, MAX_FORM_BYTES), type);
}

/** The fields of a form, as {@link readForm} returns them. @throws HttpError 400 when a multipart body is malformed */
export async function parseForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of await formEntries(bytes, type)) {
    if (typeof value === "string" && value !== "") fields.set(name, value);
    else fields.delete(name);
  }
  return fields;
}

async function formEntries(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<Iterable<[string, FormDataEntryValue]>> {
  const media = type.split(";", 1)[0].trim().toLowerCase();
  if (media === "application/x-www-form-urlencoded") return new URLSearchParams(new TextDecoder().decode(bytes));
  if (media !== "multipart/form-data") return [];
  try {
    return await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  } catch {
    throw new HttpError(400, "body: malformed multipart form");
  }
}

/** A whole body of at most `limitBytes`. @throws HttpError 413 above that, 408 when it takes over `totalMs`, 499 */
export async function readBytes(
  request: Request,
  limitBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readRequest(request, { maxBytes: limitBytes, totalMs });
  } catch (error) {
    throw error instanceof BodyTooLong ? payloadTooLarge(limitBytes) : unreadable(error);
  }
}

function notJson(offset: number, error: string): HttpError {
  return invalid([{ type: "json_invalid", loc: ["body", offset], msg: "JSON decode error", ctx: { error } }]);
}
