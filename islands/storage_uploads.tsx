import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "@/components/icon.tsx";
import { InterruptedUploads, UnfinishedList } from "@/components/storage/left_uploads.tsx";
import { keepFocus } from "@/lib/pages/browser/focus_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { droppedFiles, requestedUpload, walkEntries } from "@/lib/pages/uploads/chosen_files_client.ts";
import { announcement, uploadSection } from "@/lib/pages/storage/dock_client.ts";
import { type OfferedChanges, offeredChanges } from "@/lib/pages/storage/folder_changes_client.ts";
import { lazyComponent } from "@/lib/pages/browser/load_code_client.tsx";
import { UploadsStore } from "@/lib/pages/uploads/uploads_store_client.ts";
import type { FolderName } from "@/lib/pages/storage/storage_paths.ts";
import { plainName } from "@/lib/pages/storage/key_names.ts";
import { UPLOAD_LABELS, UploadAnnouncer, uploadHead } from "@/lib/pages/uploads/upload_sentences.ts";

interface StorageUploadsProps {
  readonly folder: FolderName;
  /** The name of the folder. */
  readonly name: string;
  /** The changes of the bucket that are offered: all but those that the store is known to forbid. */
  readonly found: OfferedChanges;
}

/** Uploads to a folder: by drop or dialog. The dock shows those under way, this island interrupted and unfinished ones. */
export default island(
  "storage_uploads",
  function StorageUploads({ folder, name, found }: StorageUploadsProps) {
    const store = useSignal<UploadsStore | null>(null);
    const isOver = useSignal(false);
    const area = useRef<HTMLDivElement>(null);
    const files = useRef<HTMLInputElement>(null);
    const folders = useRef<HTMLInputElement>(null);
    const isOffered = () => offeredChanges(folder.account, folder.bucket, found).write;

    useEffect(() => {
      const created = new UploadsStore(folder);
      store.value = created;
      showInDock(created, folder.bucket);
      const stops = [
        created.start(),
        announced(created),
        followDrops((over) => isOver.value = over && isOffered(), (transfer) => {
          if (!isOffered()) return;
          void droppedFiles(transfer).then((chosen) => created.add(chosen));
        }),
        effect(() => {
          const choice = requestedUpload.value;
          if (choice === null) return;
          requestedUpload.value = null;
          (choice === "files" ? files : folders).current?.click();
        }),
      ];
      if (area.current) {
        // A notice that goes leaves the focus to what stands below it.
        stops.push(keepFocus(area.current, "tr", () => area.current?.querySelector("summary") ?? null));
      }
      return () => {
        for (const stop of stops) stop();
        uploadSection.value = null;
      };
    }, []);

    const choose = (input: HTMLInputElement | null) => {
      const files = [...input?.files ?? []];
      // The same files can be chosen again.
      if (input) input.value = "";
      void walkEntries(files).then((chosen) => store.value?.add(chosen));
    };

    return (
      <div class="upload-area needs-scripts" ref={area}>
        {isOver.value && (
          <p class="drop">
            <span>
              <Icon name="upload" /> {UPLOAD_LABELS.dropHere(plainName(name))}
            </span>
          </p>
        )}
        <input ref={files} type="file" multiple hidden onChange={(event) => choose(event.currentTarget)} />
        <input
          ref={folders}
          type="file"
          multiple
          hidden
          {...{ webkitdirectory: true }}
          onChange={(event) => choose(event.currentTarget)}
        />
        {store.value && (
          <InterruptedUploads
            store={store.value}
            folder={folder}
            onChoose={() => folders.current?.click()}
          />
        )}
        {isOffered() && (
          <UnfinishedList
            uploads={store.value?.unfinished ?? null}
            prefix={folder.prefix}
            onOpen={() => void store.value?.readUnfinished()}
          />
        )}
      </div>
    );
  },
);

/** Most visits of a folder upload nothing. */
const UploadList = lazyComponent(async () => (await import("@/components/storage/upload_list.tsx")).UploadList);

function showInDock(store: UploadsStore, bucket: string): void {
  uploadSection.value = {
    line() {
      void store.version.value;
      const isEmpty = store.choice.value === null && store.counts.all === 0;
      return isEmpty ? "" : uploadHead(store.counts);
    },
    needsReader() {
      void store.version.value;
      return store.counts.inUse > 0 || store.counts.state === "stopped";
    },
    view: () => <UploadList store={store} bucket={bucket} />,
  };
}

/** Has a screen reader say how far the uploads are. @returns a function that ends that */
function announced(store: UploadsStore): () => void {
  const announcer = new UploadAnnouncer();
  return effect(() => {
    void store.version.value;
    const said = announcer.next({ counts: store.counts, percent: store.percent, now: performance.now() });
    if (said !== "") announcement.value = said;
  });
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
