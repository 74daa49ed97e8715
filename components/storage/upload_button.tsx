import { Icon } from "@/components/icon.tsx";
import { requestUpload } from "@/lib/client/storage/upload/upload_requests.ts";
import { UPLOAD_LABELS } from "@/lib/presentation/storage/upload_sentences.ts";

/** Opens the dialog for files to upload to the folder. */
export function UploadButton() {
  return (
    <button class="btn primary needs-scripts" type="button" onClick={requestUpload}>
      <Icon name="upload" />
      {UPLOAD_LABELS.upload}
    </button>
  );
}
