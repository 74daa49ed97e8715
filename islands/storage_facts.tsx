import { ObjectDetails } from "@/components/storage/object_panel.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import type { ObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import type { ObjectAddress } from "@/lib/pages/storage/storage_paths.ts";

interface StorageFactsProps {
  readonly address: ObjectAddress;
  readonly facts: ObjectFacts;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** The facts about an object, with times in the reader's zone once scripts run. */
export default island("storage_facts", function StorageFacts({ address, facts, renderedAt }: StorageFactsProps) {
  const style = useMoments(renderedAt);
  return <ObjectDetails address={address} facts={facts} style={style.value} />;
});
