import { FixitySchedules } from "@/components/storage/fixity_schedules.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";

interface StorageSchedulesProps {
  readonly account: string;
  readonly listed: ListedSchedules;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The schedules of fixity checks, with times in the reader's zone once scripts run, as those of checks beside them. */
export default island(
  "storage_schedules",
  function StorageSchedules({ account, listed, renderedAt }: StorageSchedulesProps) {
    const style = useMoments(renderedAt);
    return <FixitySchedules account={account} listed={listed} style={style.value} />;
  },
);
