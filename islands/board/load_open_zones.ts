import { signal } from "@preact/signals";

import type { OPEN_ZONES } from "@/components/open_zones.tsx";

/** The zones of an open card; null until their code is loaded, `failed` where it could not be. */
export const openZones = signal<typeof OPEN_ZONES | "failed" | null>(null);

let isLoading = false;

/** Loads the zones of an open card, unless they are there; after a failure it tries again. */
export function loadOpenZones(): void {
  const { value } = openZones;
  if (isLoading || (value !== null && value !== "failed")) return;
  isLoading = true;
  import("@/components/open_zones.tsx")
    .then(({ OPEN_ZONES }) => openZones.value = OPEN_ZONES, () => openZones.value = "failed")
    .finally(() => isLoading = false);
}
