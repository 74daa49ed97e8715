import { FIXITY_LABELS } from "@/lib/pages/storage/fixity_check.ts";
import { FIXITY_PATH } from "@/lib/pages/storage/storage_paths.ts";

interface ShownBucketProps {
  readonly account: string;
  /** The bucket whose checks are shown; "": none was named. */
  readonly bucket: string;
}

const MAX_BUCKET_NAME = 63;

/** The choice of a bucket whose checks are shown. It is a part of the address, so it works without scripts. */
export function ShownBucket({ account, bucket }: ShownBucketProps) {
  return (
    <form class="shown-bucket" action={FIXITY_PATH}>
      <input type="hidden" name="account" value={account} />
      <label>
        {FIXITY_LABELS.checksOf}
        <input
          class="vid"
          name="show"
          value={bucket}
          required
          maxLength={MAX_BUCKET_NAME}
          autocapitalize="none"
          spellcheck={false}
        />
      </label>
      <button class="btn" type="submit">{FIXITY_LABELS.showChecks}</button>
    </form>
  );
}
