import { ObjectDetails } from "@/components/storage/object_panel.tsx";
import { island } from "@/lib/client/island.tsx";
import { useMoments } from "@/lib/client/reader_moments.ts";
import type { ObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import type { ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";

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
