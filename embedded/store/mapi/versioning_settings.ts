import type { Tenant } from "@/embedded/store/accounts.ts";
import { boolean, integer, members, parsed } from "./body_schema.ts";
import { type MapiRequest, permittedNamespace } from "./mapi_request.ts";

/** The index stores `enabled` with the bucket, the others as they were set. */
export const versioningSettings = members({
  enabled: boolean,
  prune: boolean,
  pruneDays: integer(0, 36_500),
  useDeleteMarkers: boolean,
  keepDeletionRecords: boolean,
});

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/versioningSettings */
export function showVersioningSettings(tenant: Tenant, name: string, request: MapiRequest): Response {
  const bucket = permittedNamespace(tenant, name, request, "read");
  const { prune, pruneDays, useDeleteMarkers, keepDeletionRecords } = request.store.buckets.versionSettings(bucket.id);
  const enabled = bucket.versioning === "enabled";
  return Response.json({ enabled, prune, pruneDays, useDeleteMarkers, keepDeletionRecords });
}

/** POST: members that are not given stay as they are. Existing versions stay when `enabled` is switched off. */
export async function setVersioningSettings(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  const bucket = permittedNamespace(tenant, name, request, "administer");
  const { enabled, ...settings } = parsed(versioningSettings, await request.body());
  await request.store.writer.change("setVersionSettings", {
    bucket: bucket.id,
    versioning: enabled === undefined ? null : enabled ? "enabled" : "off",
    settings,
  });
  request.store.maintenance.runSoon();
  return new Response(null);
}

/** DELETE: back to the defaults, without versioning. */
export async function resetVersioningSettings(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  const bucket = permittedNamespace(tenant, name, request, "administer");
  await request.store.writer.change("setVersionSettings", {
    bucket: bucket.id,
    versioning: "off",
    settings: "defaults",
  });
  return new Response(null);
}
