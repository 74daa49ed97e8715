import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { PanelButtons, type PanelButtonsProps } from "./panel_buttons.tsx";
import { ToolButton } from "@/components/tool_button.tsx";
import { SHORTCUT_LABELS } from "@/lib/presentation/shortcuts.ts";

interface ViewerToolsProps {
  readonly title: string;
  /** What must be shown with the manifest, or whose it is. */
  readonly note: string;
  readonly panels: PanelButtonsProps;
  readonly onHelp: () => void;
  /** Stands before the buttons. */
  readonly children?: ComponentChildren;
}

/** The bar above the image: what is open, and what can be shown beside it, which on a phone is in the dock. */
export function ViewerTools(props: ViewerToolsProps) {
  return (
    <div class="viewer-tools">
      <a class="btn square" href="/" aria-label={LABELS.toCampaigns} title={LABELS.toCampaigns}>
        <Icon name="previous" />
      </a>
      <div class="title">
        <h1 title={props.title}>{props.title}</h1>
        <p title={props.note}>{props.note}</p>
      </div>
      {props.children}
      <div class="panels needs-scripts">
        <PanelButtons {...props.panels} />
        <ToolButton icon="keys" name={SHORTCUT_LABELS.shortcuts} shortcut="?" onClick={props.onHelp} />
      </div>
    </div>
  );
}
