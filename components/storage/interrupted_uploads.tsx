import type { InterruptedUpload, UploadsStore } from "@/lib/client/storage/upload/uploads_store.ts";
import { formatAge } from "@/lib/presentation/moments.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { plainName } from "@/lib/presentation/storage/key_names.ts";
import { folderPath } from "@/lib/presentation/storage/storage_paths.ts";
import { UPLOAD_LABELS, UPLOAD_NOTICES } from "@/lib/presentation/storage/upload_sentences.ts";
import { Notice } from "./notice.tsx";

interface InterruptedUploadsProps {
  readonly store: Pick<UploadsStore, "interrupted" | "continueInterrupted" | "discardInterrupted">;
  readonly account: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Opens the dialog for a folder. */
  readonly onChoose: () => void;
}

/** Uploads that ended with their page: how they go on. */
export function InterruptedUploads({ store, account, bucket, prefix, onChoose }: InterruptedUploadsProps) {
  return (
    <>
      {store.interrupted.value.map((upload) => {
        const { record } = upload;
        const isHere = record.bucket === bucket && record.prefix === prefix;
        return (
          <Notice key={`${record.bucket}/${record.prefix}`} tone="warn">
            <p>{sentenceOf(upload)}</p>
            {!isHere && (
              <a class="btn" href={folderPath({ account, bucket: record.bucket, prefix: record.prefix })}>
                {UPLOAD_NOTICES.elsewhere}
              </a>
            )}
            {isHere && (
              <button
                class="btn"
                type="button"
                onClick={() => upload.canReadAgain ? void store.continueInterrupted(upload) : onChoose()}
              >
                {upload.canReadAgain ? UPLOAD_LABELS.goOn : UPLOAD_LABELS.chooseAgain}
              </button>
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

function sentenceOf({ record, canReadAgain }: InterruptedUpload): string {
  const { bucket, prefix, files, bytes, startedAt } = record;
  const folder = plainName(prefix === "" ? bucket : prefix);
  const age = formatAge((Date.now() - startedAt) / 1000);
  const sentence = canReadAgain ? UPLOAD_NOTICES.interruptedWithHandles : UPLOAD_NOTICES.interrupted;
  return sentence(files, formatBytes(bytes), folder, age);
}
