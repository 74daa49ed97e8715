import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { campaignPath } from "@/lib/presentation/page_paths.ts";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { PanelButtons, type PanelButtonsProps } from "./panel_buttons.tsx";
import { ToolButton } from "@/components/tool_button.tsx";
import { SHORTCUT_LABELS } from "@/lib/presentation/shortcuts.ts";

interface ViewerToolsProps {
  readonly title: string;
  /** The volume that the manifest is of; null: its address does not say. */
  readonly volume: string | null;
  /** Labels of the pages that are shown. */
  readonly pages: readonly string[];
  /** What must be shown with the manifest, or whose it is. */
  readonly note: string;
  /** The campaign that the reader comes from. */
  readonly campaign: NamedCampaign | null;
  /** Address of the volume's run log; null: it is not known. */
  readonly runLog: string | null;
  readonly panels: PanelButtonsProps;
  readonly onHelp: () => void;
  /** Stands before the buttons. */
  readonly children?: ComponentChildren;
}

/** The bar above the image: what is open, and what can be shown beside it, which on a phone is in the dock. */
export function ViewerTools(
  { title, volume, pages, note, campaign, runLog, panels, onHelp, children }: ViewerToolsProps,
) {
  const back = campaign === null ? LABELS.toCampaigns : VIEWER_LABELS.backTo(campaign.name);
  const words = [volume === title ? null : volume, ...pages, note].filter(Boolean);
  return (
    <div class="viewer-tools">
      <a
        class="btn square"
        href={campaign === null ? "/" : campaignPath(campaign.namespace, campaign.name)}
        aria-label={back}
        title={back}
      >
        <Icon name="previous" />
      </a>
      <div class="title">
        <h1 title={title}>{title}</h1>
        <p title={words.join(" · ")}>
          {words.map((word, place) => [place > 0 && " · ", <span key={place}>{word}</span>])}
        </p>
      </div>
      {runLog !== null && (
        <a class="btn square" href={runLog} aria-label={LABELS.runLog} title={LABELS.runLog}>
          <Icon name="log" />
        </a>
      )}
      {children}
      <div class="panels needs-scripts">
        <PanelButtons {...panels} />
        <ToolButton icon="keys" name={SHORTCUT_LABELS.shortcuts} shortcut="?" onClick={onHelp} />
      </div>
    </div>
  );
}
