import type { ComponentProps } from "preact";
import { FixitySchedules } from "@/components/storage/fixity_schedules.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";

interface StorageSchedulesProps extends Omit<ComponentProps<typeof FixitySchedules>, "style"> {
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The schedules of fixity checks, with times in the reader's zone once scripts run, as those of checks beside them. */
export default island(
  "storage_schedules",
  function StorageSchedules({ renderedAt, ...props }: StorageSchedulesProps) {
    return <FixitySchedules {...props} style={useMoments(renderedAt).value} />;
  },
);
