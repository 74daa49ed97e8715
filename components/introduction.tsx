import { BOARD_LABELS, BOARD_SENTENCES } from "@/lib/presentation/board_sentences.ts";
import { Icon } from "./icon.tsx";

/** What Stackroom is, for a first visit. A page of a reader who has closed it hides it before anything is painted. */
export function Introduction({ onClose }: { onClose: () => void }) {
  return (
    <aside class="introduction" aria-label={BOARD_LABELS.introduction}>
      <p>{BOARD_SENTENCES.introduction}</p>
      <button
        class="btn square needs-scripts"
        type="button"
        aria-label={BOARD_LABELS.closeIntroduction}
        title={BOARD_LABELS.closeIntroduction}
        onClick={onClose}
      >
        <Icon name="close" />
      </button>
    </aside>
  );
}
