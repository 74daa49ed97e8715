import { BucketTable } from "@/components/storage/bucket_table.tsx";
import { island } from "@/lib/client/island.tsx";
import { useMoments } from "@/lib/client/reader_moments.ts";
import type { CountedBucket } from "@/lib/presentation/storage/listing.ts";

interface StorageBucketsProps {
  readonly account: string;
  readonly buckets: readonly CountedBucket[];
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The buckets of an account, with times in the reader's zone once scripts run, as those of the objects in them. */
export default island(
  "storage_buckets",
  function StorageBuckets({ account, buckets, renderedAt }: StorageBucketsProps) {
    const style = useMoments(renderedAt);
    return <BucketTable account={account} buckets={buckets} style={style.value} />;
  },
);
