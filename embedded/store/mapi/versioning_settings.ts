import { boolean, integer, members, parsed } from "./body_schema.ts";
import { permittedNamespace, type TenantRequest } from "./mapi_request.ts";

/** The index stores `enabled` with the bucket, the others as they were set. */
export const versioningSettings = members({
  enabled: boolean,
  prune: boolean,
  pruneDays: integer(0, 36_500),
  useDeleteMarkers: boolean,
  keepDeletionRecords: boolean,
});

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/versioningSettings */
export function showVersioningSettings(request: TenantRequest): Response {
  const bucket = permittedNamespace(request, "read");
  const { prune, pruneDays, useDeleteMarkers, keepDeletionRecords } = request.store.buckets.versionSettings(bucket.id);
  const enabled = bucket.versioning === "enabled";
  return Response.json({ enabled, prune, pruneDays, useDeleteMarkers, keepDeletionRecords });
}

/** POST: members that are left out stay as they are. Existing versions stay when `enabled` is switched off. */
export async function setVersioningSettings(request: TenantRequest): Promise<void> {
  const bucket = permittedNamespace(request, "administer");
  const { enabled, ...settings } = parsed(versioningSettings, await request.body());
  await request.store.writer.change("setVersionSettings", {
    bucket: bucket.id,
    versioning: enabled === undefined ? null : enabled ? "enabled" : "off",
    settings,
  });
  request.store.maintenance.runSoon();
}

/** DELETE: back to the defaults, without versioning. */
export async function resetVersioningSettings(request: TenantRequest): Promise<void> {
  const bucket = permittedNamespace(request, "administer");
  const defaults = { versioning: "off", settings: "defaults" } as const;
  await request.store.writer.change("setVersionSettings", { bucket: bucket.id, ...defaults });
}
