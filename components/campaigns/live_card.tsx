import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { CampaignCard } from "./campaign_card.tsx";
import type { CardStore } from "@/lib/pages/campaigns/card_store_client.ts";
import { lazyCode } from "@/lib/pages/browser/lazy_code_client.ts";
import { isRememberedOpen, rememberOpen } from "@/lib/pages/campaigns/list_memory_client.ts";
import { watchOnScreen } from "@/lib/pages/browser/on_screen_client.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";

/** The zones of an open card. */
export const { code: openZones, load: loadOpenZones } = lazyCode(async () => {
  return (await import("./open_zones.tsx")).OPEN_ZONES;
});

interface LiveCardProps {
  readonly card: CardStore;
  /** Its key; its place in the list, from 1, and how long the list is. */
  readonly name: string;
  readonly position: number;
  readonly total: number;
  readonly style: MomentStyle;
  readonly spansNamespaces: boolean;
  /** Observes the height of the card. @returns a function that stops it */
  readonly onHeight: (place: HTMLElement, card: CardStore) => () => void;
}

/** A card in the list: it is read while it is on screen, and can be folded. */
export function LiveCard(props: LiveCardProps) {
  const { card, style, spansNamespaces, onHeight } = props;
  const place = useRef<HTMLDivElement>(null);
  // A remembered open card stays folded until its zones and volumes are loaded, while the page reserves its previous height:
  // nothing moves when it opens. A card that is rendered again has them, and is open at once.
  const isReserved = useSignal(!card.open.peek() || openZones.peek() === null || card.volumes.peek().length === 0);
  const open = useComputed(() => card.open.value && !isReserved.value);
  useEffect(() => {
    if (isRememberedOpen(card.summary.value)) card.setOpen(true);
    const element = place.current;
    if (!element) return;
    const ends = [watchOnScreen(element, (onScreen) => card.setOnScreen(onScreen)), onHeight(element, card)];
    return () => {
      for (const end of ends) end();
      card.setOnScreen(false);
    };
  }, [card]);
  useSignalEffect(() => {
    const isRead = card.volumes.value.length > 0 || card.trouble.value !== null;
    if (!card.open.value || (isRead && openZones.value !== null)) isReserved.value = false;
  });
  useSignalEffect(() => {
    if (card.open.value) loadOpenZones();
  });
  return (
    <div
      ref={place}
      class="place"
      role="listitem"
      aria-setsize={props.total}
      aria-posinset={props.position}
      data-key={props.name}
      style={isReserved.value ? undefined : { minHeight: 0 }}
    >
      <CampaignCard
        card={card}
        open={open.value}
        zones={openZones.value}
        spansNamespaces={spansNamespaces}
        style={style}
        onFold={() => {
          card.setOpen(!card.open.value);
          rememberOpen(card.summary.value, card.open.value);
        }}
      />
    </div>
  );
}
