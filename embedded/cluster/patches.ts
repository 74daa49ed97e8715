import { isObject } from "@/lib/std/is_object.ts";
import { badRequest, invalidOptions, unsupportedMediaType } from "./api_status.ts";
import { isShallow, readJson, readJsonObject, readYamlObject } from "./json_body.ts";
import { jsonPatch } from "./json_patch.ts";
import { type JsonObject, mergePatch } from "./json_values.ts";
import type { KubeObject } from "./objects.ts";
import type { Resource } from "./resources.ts";
import type { ClusterStore } from "./store.ts";
import { applyObject, checkUid, existing, replaceObject, type Writing } from "./writes.ts";

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

interface PatchRequest {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly writing: Writing;
  /** Take fields from their owners; for an apply alone. */
  readonly force: boolean;
  /** Checks the object of the patch, or the patched one, and returns the one to be stored. */
  readonly admit: (body: JsonObject) => JsonObject;
}

/** Patches an object by the kind of patch that a request's content type names. Throws 400, 404, 409, 413, 415 or 422. */
export async function patchObject(
  store: ClusterStore,
  request: Request,
  { resource, namespace, name, writing, force, admit }: PatchRequest,
): Promise<{ readonly object: KubeObject; readonly isNew: boolean }> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  const accepted = [JSON_PATCH, MERGE, STRATEGIC, APPLY];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted.join(", "));
  if (type === APPLY) {
    const body = admit(await readYamlObject(request));
    return applyObject(store, resource, namespace, name, body, { ...writing, force });
  }
  if (force) throw invalidOptions("PatchOptions", "force", "Forbidden", "may not be specified for non-apply patch");
  const patch = type === JSON_PATCH ? await readJson(request) : await readJsonObject(request);
  if (type === STRATEGIC) checkPlain(patch);
  // Read after the body, which arrives later: between reading and storing nothing else may come.
  const current = existing(store, resource, namespace, name);
  const patched = type === JSON_PATCH ? jsonPatch(current, patch) : mergePatch(current, patch);
  if (!isObject(patched)) throw badRequest("the patch leaves no object");
  // Moves can nest what was side by side.
  if (!isShallow(patched)) throw badRequest("the patch leaves an object that is nested too deeply");
  const merged = admit(patched);
  checkUid(resource, current, merged);
  return { object: replaceObject(store, resource, current, merged, writing), isNew: false };
}

/** A strategic merge patch without lists and directives is a merge patch; the others are not offered. */
function checkPlain(patch: unknown): void {
  if (Array.isArray(patch)) throw badRequest("strategic merge patches of lists are not offered by this cluster");
  if (!isObject(patch)) return;
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) throw badRequest(`the directive ${key} is not offered by this cluster`);
    checkPlain(value);
  }
}
