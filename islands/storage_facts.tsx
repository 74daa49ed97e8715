import type { ComponentProps } from "preact";
import { ObjectDetails } from "@/components/storage/object_panel.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";

interface StorageFactsProps extends Omit<ComponentProps<typeof ObjectDetails>, "style"> {
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The facts about an object, with times in the reader's zone once scripts run. */
export default island("storage_facts", function StorageFacts({ renderedAt, ...props }: StorageFactsProps) {
  return <ObjectDetails {...props} style={useMoments(renderedAt).value} />;
});
