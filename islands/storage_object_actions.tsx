import { useEffect } from "preact/hooks";
import { ChangeActions } from "@/islands/tasks/selection_actions.tsx";
import { island } from "@/lib/client/island.tsx";
import { leadTo } from "@/lib/client/storage/dock.ts";
import {
  notOfferedSentence,
  type OfferedChanges,
  offeredChanges,
  onFolderChanged,
} from "@/lib/client/storage/folder_changes.ts";
import { tasksOf } from "@/lib/client/storage/page_tasks.ts";
import { pathAfter } from "@/lib/presentation/storage/after_change.ts";
import { folderOf } from "@/lib/presentation/storage/key_names.ts";
import type { ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";

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
        if (path) leadTo(path);
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
