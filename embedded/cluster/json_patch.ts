import { isObject } from "@/lib/std/is_object.ts";
import { ApiError, badRequest } from "./api_status.ts";
import { sameJson } from "./json_values.ts";

/** A patch may have so many operations, as in the real API server. */
const MAX_OPERATIONS = 10_000;

/** Applies a JSON patch (RFC 6902) and returns the result; changes neither argument. @throws ApiError 400, 413, or 422 when it does not apply */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  if (patch.length > MAX_OPERATIONS) {
    throw new ApiError(413, "RequestEntityTooLarge", `a JSON patch may have at most ${MAX_OPERATIONS} operations`);
  }
  return patch.reduce((document: unknown, step: unknown) => applied(document, step), target);
}

function applied(document: unknown, step: unknown): unknown {
  if (!isObject(step)) throw badRequest("an operation of a JSON patch is an object");
  const path = pointer(step, "path");
  const value = () => {
    if (!Object.hasOwn(step, "value")) throw badRequest(`${step.op} without a value`);
    return step.value;
  };
  switch (step.op) {
    case "add":
      return changed(document, path, { kind: "add", value: value() });
    case "remove":
      return changed(document, path, { kind: "remove" });
    case "replace":
      return changed(document, path, { kind: "replace", value: value() });
    case "move": {
      const from = pointer(step, "from");
      return changed(changed(document, from, { kind: "remove" }), path, { kind: "add", value: found(document, from) });
    }
    case "copy":
      return changed(document, path, { kind: "add", value: found(document, pointer(step, "from")) });
    case "test":
      if (sameJson(found(document, path), value())) return document;
      throw misfit(`testing ${step.path} failed`);
    default:
      throw badRequest("op: add, remove, replace, move, copy or test");
  }
}

type Change = { readonly kind: "add" | "replace"; readonly value: unknown } | { readonly kind: "remove" };

function changed(document: unknown, path: readonly string[], change: Change): unknown {
  const [name, ...rest] = path;
  if (name === undefined) {
    if (change.kind === "remove") throw misfit("the whole object cannot be removed");
    return change.value;
  }
  if (Array.isArray(document)) {
    const adds = rest.length === 0 && change.kind === "add";
    const index = name === "-" && adds ? document.length : elementAt(document, name, adds);
    if (rest.length > 0) return document.with(index, changed(document[index], rest, change));
    if (change.kind === "remove") return document.toSpliced(index, 1);
    return adds ? document.toSpliced(index, 0, change.value) : document.with(index, change.value);
  }
  const members = new Map(Object.entries(isObject(document) ? document : missing(name)));
  if ((rest.length > 0 || change.kind !== "add") && !members.has(name)) missing(name);
  if (rest.length > 0) members.set(name, changed(members.get(name), rest, change));
  else if (change.kind === "remove") members.delete(name);
  else members.set(name, change.value);
  return Object.fromEntries(members);
}

function found(document: unknown, path: readonly string[]): unknown {
  let here = document;
  for (const name of path) {
    if (Array.isArray(here)) here = here[elementAt(here, name, false)];
    else if (isObject(here) && Object.hasOwn(here, name)) here = here[name];
    else missing(name);
  }
  return here;
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
