import { member } from "@/lib/std/untrusted.ts";
import { type FieldPath, namesOf } from "./field_sets.ts";
import type { ConfigMap } from "./objects.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Whether every field still has the value that `kubectl apply` set without server-side apply, by its annotation: then kubectl
 * may take them over without force when it moves to server-side apply (Kubernetes, "Server-Side Apply", upgrading from client-side apply).
 */
export function matchesLastApplied(current: ConfigMap, paths: readonly FieldPath[]): boolean {
  const text = current.metadata.annotations?.[ANNOTATION];
  if (text === undefined) return false;
  try {
    const lastApplied: unknown = JSON.parse(text);
    return paths.every((path) => {
      const value = member(current, ...namesOf(path));
      return value !== undefined && value === member(lastApplied, ...namesOf(path));
    });
  } catch {
    return false;
  }
}
