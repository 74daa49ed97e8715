import { NO_VOLUMES, readVolumes, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { member, stringAt } from "@/lib/std/untrusted.ts";

/** A list shows no sentence of a failed volume, and thousands of records would be a gigabyte of them. */
export function withoutFailures(status: unknown): unknown {
  const data = member(status, "data");
  return { metadata: member(status, "metadata"), data: isObject(data) ? { ...data, failedVolumes: "[]" } : data };
}

/** The volumes of a campaign's ConfigMap; none when it is gone or has no list. */
export function volumesOf(configMap: unknown): VolumeList {
  const text = stringAt(configMap, "data", VOLUMES_KEY);
  return text === null ? NO_VOLUMES : readVolumes(text);
}

/** The key of a campaign's ConfigMap with its volumes. */
export const VOLUMES_KEY = "volumes.txt";
