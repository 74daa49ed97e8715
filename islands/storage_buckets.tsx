import { Icon } from "@/components/icon.tsx";
import { Moment } from "@/components/moment.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import type { CountedBucket } from "@/lib/pages/storage/folder_listing.ts";
import { folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";

interface StorageBucketsProps {
  readonly account: string;
  readonly buckets: readonly CountedBucket[];
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The buckets of an account and their contents, with times in the reader's zone once scripts run. */
export default island(
  "storage_buckets",
  function StorageBuckets({ account, buckets, renderedAt }: StorageBucketsProps) {
    const style = useMoments(renderedAt).value;
    return (
      <section class="objs plain" aria-label={STORAGE_LABELS.buckets}>
        <table>
          <thead>
            <tr>
              <th scope="col">{STORAGE_LABELS.bucket}</th>
              <th scope="col" class="num count">{STORAGE_LABELS.objects}</th>
              <th scope="col" class="num size">{STORAGE_LABELS.size}</th>
              <th scope="col" class="num changed">{STORAGE_LABELS.created}</th>
            </tr>
          </thead>
          <tbody>
            {buckets.map((bucket) => <BucketRow key={bucket.Name} account={account} bucket={bucket} style={style} />)}
          </tbody>
        </table>
      </section>
    );
  },
);

function BucketRow({ account, bucket: { Name: name, CreationDate: created, usage }, style }: {
  readonly account: string;
  readonly bucket: CountedBucket;
  readonly style: MomentStyle;
}) {
  return (
    <tr>
      <th scope="row">
        <a class="entry" href={folderPath({ account, bucket: name, prefix: "" })}>
          <Icon name="bucket" />
          <KeyName name={name} />
        </a>
      </th>
      <td class="num count" data-unit={usage ? STORAGE_LABELS.objects.toLowerCase() : ""}>
        {usage ? formatCount(usage.objects) : STORAGE_LABELS.unknown}
      </td>
      <td class="num size">{usage ? formatBytes(usage.bytes) : STORAGE_LABELS.unknown}</td>
      <td class="num changed">
        {created === null ? STORAGE_LABELS.unknown : <Moment at={created} style={style} />}
      </td>
    </tr>
  );
}
