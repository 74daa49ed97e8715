import { Icon } from "@/components/icon.tsx";
import { Moment } from "@/components/moment.tsx";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import type { CountedBucket } from "@/lib/presentation/storage/listing.ts";
import { folderPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface BucketTableProps {
  readonly account: string;
  readonly buckets: readonly CountedBucket[];
  readonly style: MomentStyle;
}

/** The buckets of an account, what is in them, and since when they are there. */
export function BucketTable({ account, buckets, style }: BucketTableProps) {
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
          {buckets.map((bucket) => <BucketRow key={bucket.name} account={account} bucket={bucket} style={style} />)}
        </tbody>
      </table>
    </section>
  );
}

function BucketRow({ account, bucket: { name, created, usage }, style }: {
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
