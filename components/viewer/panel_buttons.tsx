import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";
import { ToolButton } from "@/components/tool_button.tsx";

export interface PanelButtonsProps {
  readonly hasThumbnails: boolean;
  readonly hasText: boolean;
  readonly onThumbnails: () => void;
  readonly onText: () => void;
  readonly onAbout: () => void;
}

/** The buttons of what can be shown beside the page. */
export function PanelButtons({ hasThumbnails, hasText, onThumbnails, onText, onAbout }: PanelButtonsProps) {
  const { thumbnails, text, about } = VIEWER_LABELS;
  return (
    <>
      <ToolButton icon="thumbnails" name={thumbnails} shortcut="M" pressed={hasThumbnails} onClick={onThumbnails} />
      <ToolButton icon="text" name={text} shortcut="T" pressed={hasText} onClick={onText} />
      <ToolButton icon="about" name={about} shortcut="I" onClick={onAbout} />
    </>
  );
}
