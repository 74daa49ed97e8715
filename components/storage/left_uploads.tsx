import type { ComponentChildren } from "preact";
import {
  OLD_MS,
  type UnfinishedUpload,
  type UnfinishedUploads,
} from "@/lib/pages/uploads/unfinished_uploads_client.ts";
import type { BatchRecord } from "@/lib/pages/uploads/upload_journal_client.ts";
import type { UploadsStore } from "@/lib/pages/uploads/uploads_store_client.ts";
import { formatAge } from "@/lib/pages/moments.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { nameIn, plainName } from "@/lib/pages/storage/key_names.ts";
import { type FolderName, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { UPLOAD_LABELS, UPLOAD_NOTICES } from "@/lib/pages/uploads/upload_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface NoticeProps {
  readonly tone?: "warn" | "bad";
  /** Whether uploads wait for the reader's answer, so that a screen reader says it at once. */
  readonly isUrgent?: boolean;
  readonly children: ComponentChildren;
}

/** A notice about the uploads of a page. */
export function Notice({ tone, isUrgent = tone === "bad", children }: NoticeProps) {
  return (
    <div class={tone ? `notice ${tone}` : "notice"} role={isUrgent ? "alert" : "status"}>
      {children}
    </div>
  );
}

interface InterruptedUploadsProps {
  readonly store: Pick<UploadsStore, "interrupted" | "continueInterrupted" | "discardInterrupted">;
  readonly folder: FolderName;
  /** Opens the dialog for a folder. */
  readonly onChoose: () => void;
}

/** Interrupted uploads, with a button that resumes each. */
export function InterruptedUploads({ store, folder, onChoose }: InterruptedUploadsProps) {
  return (
    <>
      {store.interrupted.value.map((upload) => {
        const isHere = upload.bucket === folder.bucket && upload.prefix === folder.prefix;
        const canReadAgain = upload.handles.length > 0;
        const goOn = () => canReadAgain ? void store.continueInterrupted(upload) : onChoose();
        return (
          <Notice key={`${upload.bucket}/${upload.prefix}`} tone="warn">
            <p>{sentenceOf(upload)}</p>
            {isHere
              ? (
                <button class="btn" type="button" onClick={goOn}>
                  {canReadAgain ? UPLOAD_LABELS.goOn : UPLOAD_LABELS.chooseAgain}
                </button>
              )
              : (
                <a class="btn" href={folderPath({ ...folder, bucket: upload.bucket, prefix: upload.prefix })}>
                  {UPLOAD_NOTICES.elsewhere}
                </a>
              )}
            <button class="btn" type="button" onClick={() => void store.discardInterrupted(upload)}>
              {UPLOAD_LABELS.discard}
            </button>
          </Notice>
        );
      })}
    </>
  );
}

function sentenceOf({ bucket, prefix, files, bytes, startedAt, handles }: BatchRecord): string {
  const folder = plainName(prefix === "" ? bucket : prefix);
  const age = formatAge((Date.now() - startedAt) / 1000);
  const sentence = UPLOAD_NOTICES.interrupted(UPLOAD_NOTICES.files(files), formatBytes(bytes), folder, age);
  return `${sentence} ${handles.length > 0 ? UPLOAD_NOTICES.canResume : UPLOAD_NOTICES.canChooseAgain}`;
}

/** Rows that are shown; the button that deletes old uploads deletes further ones too. */
const MAX_ROWS = 100;

interface UnfinishedListProps {
  /** Null until the page is awake. */
  readonly uploads: Pick<UnfinishedUploads, "list" | "end"> | null;
  readonly prefix: string;
  /** Reads the list. */
  readonly onOpen: () => void;
}

/** Unfinished uploads in parts: their age, their size, and a button that deletes them. */
export function UnfinishedList({ uploads, prefix, onOpen }: UnfinishedListProps) {
  const list = uploads?.list.value ?? null;
  return (
    <details
      class="unfinished"
      onToggle={({ currentTarget }) => currentTarget.open && onOpen()}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary>{UPLOAD_LABELS.unfinished}</summary>
      <div>
        {list === null && <p class="note">{UPLOAD_LABELS.reading}</p>}
        {list === "forbidden" && <p class="note">{UPLOAD_NOTICES.unfinishedForbidden}</p>}
        {list === "failed" && <p class="note">{UPLOAD_NOTICES.unfinishedFailed}</p>}
        {Array.isArray(list) && <Rows list={list} prefix={prefix} onEnd={(ended) => void uploads?.end(ended)} />}
      </div>
    </details>
  );
}

interface RowsProps {
  readonly list: readonly UnfinishedUpload[];
  readonly prefix: string;
  readonly onEnd: (uploads: readonly UnfinishedUpload[]) => void;
}

function Rows({ list, prefix, onEnd }: RowsProps) {
  if (list.length === 0) return <p class="note">{UPLOAD_NOTICES.noneUnfinished}</p>;
  const now = Date.now();
  const old = list.filter(({ begunAt }) => begunAt !== null && now - begunAt > OLD_MS);
  return (
    <>
      <p class="note">{UPLOAD_LABELS.unfinishedNote}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{UPLOAD_LABELS.name}</th>
            <th scope="col">{UPLOAD_LABELS.begun}</th>
            <th scope="col">{UPLOAD_LABELS.size}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {list.slice(0, MAX_ROWS).map((upload) => {
            const { key, uploadId, begunAt, bytes } = upload;
            const name = nameIn(prefix, key);
            return (
              <tr key={uploadId}>
                <th scope="row">
                  <KeyName name={name} />
                </th>
                <td>{begunAt === null ? "–" : formatAge((now - begunAt) / 1000)}</td>
                <td>{bytes === null ? "–" : formatBytes(bytes)}</td>
                <td>
                  <button
                    class="btn"
                    type="button"
                    aria-label={UPLOAD_LABELS.endOf(plainName(name))}
                    onClick={() => onEnd([upload])}
                  >
                    {UPLOAD_LABELS.end}
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {old.length > 1 && (
        <button class="btn" type="button" onClick={() => onEnd(old)}>{UPLOAD_LABELS.endOld(old.length)}</button>
      )}
    </>
  );
}
