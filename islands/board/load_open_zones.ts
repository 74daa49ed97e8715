import { lazyCode } from "@/lib/client/lazy_code.ts";

/** The zones of an open card. */
export const { code: openZones, load: loadOpenZones } = lazyCode(async () => {
  return (await import("@/components/open_zones.tsx")).OPEN_ZONES;
});
