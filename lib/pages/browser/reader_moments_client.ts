import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { MomentStyle } from "@/lib/pages/moments.ts";

/** The IANA name of the reader's zone. */
export function zoneOfReader(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** How moments read for the reader, now. */
export function readerMoments(): MomentStyle {
  return { zone: zoneOfReader(), now: Date.now() };
}

/**
 * How moments read in an island: in UTC as the server renders them, and in the reader's zone once scripts run.
 *
 * @param renderedAt the server's clock, ms since 1970
 */
export function useMoments(renderedAt: number): Signal<MomentStyle> {
  const style = useSignal<MomentStyle>({ zone: "UTC", now: renderedAt });
  useEffect(() => {
    style.value = readerMoments();
  }, []);
  return style;
}
