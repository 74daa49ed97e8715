import { useEffect } from "preact/hooks";
import { ChangeActions } from "@/components/storage/selection_actions.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { navigate } from "@/lib/pages/storage/dock_client.ts";
import {
  notOfferedSentence,
  type OfferedChanges,
  offeredChanges,
  onFolderChanged,
} from "@/lib/pages/storage/folder_changes_client.ts";
import { tasksOf } from "@/lib/pages/storage/page_tasks_client.ts";
import { pathAfter } from "@/lib/pages/storage/after_change.ts";
import { folderOf } from "@/lib/pages/storage/key_names.ts";
import type { ObjectAddress } from "@/lib/pages/storage/storage_paths.ts";

interface StorageObjectActionsProps {
  readonly address: ObjectAddress;
  readonly bytes: number;
  /** The changes of the bucket that are offered: all but those that the store is known to forbid. */
  readonly found: OfferedChanges;
}

/** The actions on the object of a page. Once it is gone, the page leads to where it went. */
export default island(
  "storage_object_actions",
  function StorageObjectActions({ address, bytes, found }: StorageObjectActionsProps) {
    const { account, bucket, key } = address;
    const folder = { account, bucket, prefix: folderOf(key) };
    useEffect(() =>
      onFolderChanged(folder, () => {
        const task = tasksOf(account).lastEnded.peek();
        const path = task && pathAfter(address, task.plan, task.state.peek());
        if (path) navigate(path);
      }), []);
    const offered = offeredChanges(account, bucket, found);
    const notOffered = notOfferedSentence(offered);
    return (
      <>
        <p class="btns needs-scripts">
          <ChangeActions
            folder={folder}
            rows={[{ kind: "object", key, size: bytes, changed: null }]}
            offered={offered}
            onStart={() => {}}
          />
        </p>
        {notOffered !== null && <p class="remark" role="status">{notOffered}</p>}
      </>
    );
  },
);
