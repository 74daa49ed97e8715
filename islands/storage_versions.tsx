import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { VersionList } from "@/components/storage/version_list.tsx";
import { island } from "@/lib/client/island.tsx";
import { callDoor } from "@/lib/client/storage/door.ts";
import { formatMoment } from "@/lib/presentation/moments.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES, restoreProblem } from "@/lib/presentation/storage/object_sentences.ts";
import { type ObjectAddress, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import type { VersionPage } from "@/lib/presentation/storage/versions.ts";

interface StorageVersionsProps {
  readonly address: ObjectAddress;
  readonly page: VersionPage;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The versions of an object; an older one can be made the current one. */
export default island(
  "storage_versions",
  function StorageVersions({ address, page, renderedAt }: StorageVersionsProps) {
    const style = useSignal({ zone: "UTC", now: renderedAt });
    const isBusy = useSignal(false);
    const message = useSignal("");
    const problem = useSignal("");

    useEffect(() => {
      style.value = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, now: Date.now() };
    }, []);

    const restore = async (version: string) => {
      const { account, bucket, key } = address;
      isBusy.value = true;
      problem.value = "";
      message.value = OBJECT_SENTENCES.restoring;
      const { status } = await callDoor("/buckets/:bucket/restore/:key", account, { bucket, key }, {
        method: "POST",
        json: { version_id: version },
      });
      isBusy.value = false;
      message.value = status === 200 ? OBJECT_SENTENCES.restored : "";
      if (status === 200) location.assign(objectPath({ account, bucket, key }));
      else problem.value = restoreProblem(status);
    };

    return (
      <>
        <VersionList
          address={address}
          page={page}
          style={style.value}
          controls={({ id, changed }) => (
            <button
              type="button"
              class="btn small needs-scripts"
              disabled={isBusy.value}
              aria-label={OBJECT_LABELS.restoreOf(formatMoment(changed, style.value))}
              onClick={() => id !== null && void restore(id)}
            >
              {OBJECT_LABELS.restore}
            </button>
          )}
        />
        <p class="remark" role="status">{message.value}</p>
        {problem.value !== "" && <p class="banner bad" role="alert">{problem.value}</p>}
      </>
    );
  },
);
