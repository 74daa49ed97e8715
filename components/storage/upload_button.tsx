import { Icon } from "@/components/icon.tsx";
import { requestUpload, type UploadChoice } from "@/lib/client/storage/upload/upload_requests.ts";
import { UPLOAD_LABELS } from "@/lib/presentation/storage/upload_sentences.ts";

/** Opens the dialog for files, or for a folder, to upload to the folder of the page. */
export function UploadButton({ choice }: { readonly choice: UploadChoice }) {
  return (
    <button
      class={choice === "files" ? "btn primary needs-scripts" : "btn needs-scripts"}
      type="button"
      title={UPLOAD_LABELS.orDrop}
      onClick={() => requestUpload(choice)}
    >
      <Icon name={choice === "files" ? "upload" : "folder"} />
      {choice === "files" ? UPLOAD_LABELS.upload : UPLOAD_LABELS.uploadFolder}
    </button>
  );
}
