import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { InterruptedUploads } from "@/components/storage/interrupted_uploads.tsx";
import { UnfinishedList } from "@/components/storage/unfinished_list.tsx";
import { UploadList } from "@/components/storage/upload_list.tsx";
import { Notice } from "@/components/storage/upload_notices.tsx";
import { island } from "@/lib/client/island.tsx";
import { type ChosenFiles, chosenFiles, droppedFiles, MAX_FILES } from "@/lib/client/storage/upload/dropped_files.ts";
import { onUploadRequested } from "@/lib/client/storage/upload/upload_requests.ts";
import { UploadsStore } from "@/lib/client/storage/upload/uploads_store.ts";
import { offeredChanges } from "@/lib/client/storage/refused_changes.ts";
import type { OfferedChanges } from "@/lib/presentation/storage/offered_changes.ts";
import { plainName } from "@/lib/presentation/storage/key_names.ts";
import { UPLOAD_LABELS, UPLOAD_NOTICES } from "@/lib/presentation/storage/upload_sentences.ts";

interface StorageUploadsProps {
  readonly account: string;
  readonly bucket: string;
  readonly prefix: string;
  /** The folder's own name. */
  readonly name: string;
  /** The changes of the bucket that the store is not known to forbid. */
  readonly found: OfferedChanges;
}

/** Uploads to a folder: by drop or dialog, with a list of what is under way. */
export default island(
  "storage_uploads",
  function StorageUploads({ account, bucket, prefix, name, found }: StorageUploadsProps) {
    const store = useSignal<UploadsStore | null>(null);
    const isOver = useSignal(false);
    const files = useRef<HTMLInputElement>(null);
    const folder = useRef<HTMLInputElement>(null);
    const isOffered = () => offeredChanges(account, bucket, found).write;

    useEffect(() => {
      const created = new UploadsStore({ account, bucket, prefix });
      store.value = created;
      const stopStore = created.start();
      const stopDrops = followDrops((over) => isOver.value = over && isOffered(), (transfer) => {
        if (!isOffered()) return;
        void droppedFiles(transfer).then((chosen) => created.add(chosen));
      });
      const stopRequests = onUploadRequested(() => files.current?.click());
      return () => {
        stopRequests();
        stopStore();
        stopDrops();
      };
    }, []);

    const choose = (input: HTMLInputElement | null) => {
      const chosen = chosenFiles(input?.files ?? []);
      // The same files can be chosen again.
      if (input) input.value = "";
      void store.value?.add(chosen);
    };

    return (
      <div class="upload-area needs-scripts">
        {isOffered() && (
          <p class={isOver.value ? "drop over" : "drop"}>
            <Icon name="upload" />
            {isOver.value ? <span>{UPLOAD_LABELS.dropHere(plainName(name))}</span> : (
              <span>
                {UPLOAD_LABELS.drop}{" "}
                <button class="link" type="button" onClick={() => files.current?.click()}>{UPLOAD_LABELS.files}</button>
                {" "}
                {UPLOAD_LABELS.or}{" "}
                <button class="link" type="button" onClick={() => folder.current?.click()}>
                  {UPLOAD_LABELS.folder}
                </button>
                {". "}
                {UPLOAD_LABELS.goTo}{" "}
                <b>
                  <KeyName name={name} />
                </b>.
              </span>
            )}
          </p>
        )}
        <input ref={files} type="file" multiple hidden onChange={(event) => choose(event.currentTarget)} />
        <input
          ref={folder}
          type="file"
          multiple
          hidden
          {...{ webkitdirectory: true }}
          onChange={(event) => choose(event.currentTarget)}
        />
        {store.value && (
          <>
            <ChoiceNotices chosen={store.value.choice.value} />
            <InterruptedUploads
              store={store.value}
              account={account}
              bucket={bucket}
              prefix={prefix}
              onChoose={() => folder.current?.click()}
            />
            <UnfinishedList
              uploads={store.value.unfinished}
              prefix={prefix}
              onOpen={() => void store.value?.readUnfinished()}
            />
            <UploadList store={store.value} bucket={bucket} />
          </>
        )}
      </div>
    );
  },
);

/** What could not be taken of the last choice. */
function ChoiceNotices({ chosen }: { readonly chosen: ChosenFiles | null }) {
  if (!chosen) return null;
  return (
    <>
      {chosen.files.length === 0 && <Notice tone="warn">{UPLOAD_NOTICES.empty}</Notice>}
      {chosen.isCut && <Notice tone="warn">{UPLOAD_NOTICES.cut(MAX_FILES)}</Notice>}
      {chosen.unreadable > 0 && <Notice tone="warn">{UPLOAD_NOTICES.unreadable(chosen.unreadable)}</Notice>}
    </>
  );
}

/** Takes files that are dropped anywhere on the page. @returns a function that ends that */
function followDrops(onOver: (isOver: boolean) => void, onDrop: (transfer: DataTransfer) => void): () => void {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    onOver(true);
  };
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) onOver(false);
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    onOver(false);
    onDrop(event.dataTransfer);
  };
  addEventListener("dragover", over);
  addEventListener("dragleave", leave);
  addEventListener("drop", drop);
  return () => {
    removeEventListener("dragover", over);
    removeEventListener("dragleave", leave);
    removeEventListener("drop", drop);
  };
}
