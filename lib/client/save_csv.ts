import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import { volumesCsv } from "@/lib/presentation/volume_csv.ts";

/** Saves volumes as a CSV file that the browser makes. */
export function saveCsv(name: string, volumes: readonly VolumeView[]): void {
  const url = URL.createObjectURL(new Blob([volumesCsv(volumes)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

const REVOKE_MS = 60_000;
