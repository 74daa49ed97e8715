import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { folderOf, nameIn, plainName } from "@/lib/presentation/storage/key_names.ts";
import type { ObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import { OBJECT_LABELS } from "@/lib/presentation/storage/object_sentences.ts";
import { previewKind } from "@/lib/presentation/storage/preview/preview_kind.ts";
import { type ObjectAddress, objectPath, shownPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";
import { ObjectDetails } from "./object_details.tsx";

interface ObjectPanelProps {
  readonly address: ObjectAddress;
  /** Null: they are still read. */
  readonly facts: ObjectFacts | { readonly problem: string } | null;
  readonly style: MomentStyle;
  onClose(): void;
  /** What can be done with it. */
  readonly actions: ComponentChildren;
}

/** An object beside its folder: what its own page shows. */
export function ObjectPanel({ address, facts, style, onClose, actions }: ObjectPanelProps) {
  const name = nameIn(folderOf(address.key), address.key);
  return (
    <aside class="side" aria-labelledby="object-name">
      <header>
        <h2 id="object-name" class="vid">
          <a href={objectPath(address)}>
            <KeyName name={name} />
          </a>
        </h2>
        <button type="button" class="btn square" aria-label={STORAGE_LABELS.closeDetails} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {facts === null
        ? <p class="empty" role="status">{STORAGE_LABELS.loading}</p>
        : "problem" in facts
        ? <p class="banner bad" role="alert">{facts.problem}</p>
        : (
          <>
            {previewKind(name, facts.type) === "image" && (
              <a class="view" href={objectPath(address)}>
                <img src={shownPath(address)} alt={plainName(name)} />
              </a>
            )}
            <ObjectDetails address={address} facts={facts} style={style} />
            <section>
              <p class="btns">{actions}</p>
              <a class="btn" href={objectPath(address)}>{OBJECT_LABELS.toPage}</a>
            </section>
          </>
        )}
    </aside>
  );
}
