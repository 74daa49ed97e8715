import { Icon } from "@/components/icon.tsx";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { folderOf, nameIn } from "@/lib/presentation/storage/key_names.ts";
import type { ObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import { type ObjectAddress, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { KeyName } from "./key_name.tsx";
import { ObjectDetails } from "./object_details.tsx";

interface ObjectPanelProps {
  readonly address: ObjectAddress;
  /** Null: they are still read. */
  readonly facts: ObjectFacts | { readonly problem: string } | null;
  readonly style: MomentStyle;
  onClose(): void;
}

/** An object beside its folder: what its own page shows. */
export function ObjectPanel({ address, facts, style, onClose }: ObjectPanelProps) {
  return (
    <aside class="side" aria-labelledby="object-name">
      <header>
        <h2 id="object-name" class="vid">
          <a href={objectPath(address)}>
            <KeyName name={nameIn(folderOf(address.key), address.key)} />
          </a>
        </h2>
        <button type="button" class="btn square" aria-label={STORAGE_LABELS.closeDetails} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {facts === null
        ? <p class="empty" role="status">{LABELS.loading}</p>
        : "problem" in facts
        ? <p class="banner bad" role="alert">{facts.problem}</p>
        : <ObjectDetails address={address} facts={facts} style={style} />}
    </aside>
  );
}
