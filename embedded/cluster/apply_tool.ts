import { sameJson } from "./json_values.ts";
import { applyFields } from "./managed_fields.ts";
import type { ConfigMap, NewMeta } from "./objects.ts";
import type { ClusterStore } from "./store.ts";

/** A ConfigMap before the store has it. */
export type NewConfigMap = Omit<ConfigMap, "metadata"> & { readonly metadata: NewMeta };

/** Applies a ConfigMap by force, as the tool that submits campaigns does: what others own beside it stays theirs. */
export function applyByForce(store: ClusterStore, map: NewConfigMap, manager: string): void {
  const { name, namespace = "" } = map.metadata;
  const current = store.get("configmaps", namespace, name);
  const before = current?.metadata.managedFields ?? [];
  const { content, managedFields } = applyFields(current ?? null, before, map, manager, true, store.now());
  if (!current) {
    const metadata = { name, namespace, ...content.metadata, managedFields };
    store.create("configmaps", { ...map, ...content, metadata });
    return;
  }
  const metadata = { ...current.metadata, ...content.metadata, managedFields };
  const next: ConfigMap = { apiVersion: map.apiVersion, kind: map.kind, ...content, metadata };
  if (!sameJson(next, current)) store.replace("configmaps", next);
}
