import type { ComponentChildren } from "preact";
import { Icon, ToolButton } from "@/components/icon.tsx";
import { Moment } from "@/components/moment.tsx";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { previewKind } from "@/lib/pages/storage/file_kinds.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { folderOf, nameIn, plainName } from "@/lib/pages/storage/key_names.ts";
import type { ObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import { downloadPath, type ObjectAddress, objectPath, shownPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface ObjectPanelProps {
  readonly address: ObjectAddress;
  /** Null: they are still read. */
  readonly facts: ObjectFacts | { readonly problem: string } | null;
  readonly style: MomentStyle;
  onClose(): void;
  /** Its actions. */
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
        <ToolButton icon="close" name={STORAGE_LABELS.closeDetails} onClick={onClose} />
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
              <a class="btn" href={objectPath(address)}>{STORAGE_LABELS.toPage}</a>
            </section>
          </>
        )}
    </aside>
  );
}

interface ObjectDetailsProps {
  readonly address: ObjectAddress;
  readonly facts: ObjectFacts;
  readonly style: MomentStyle;
}

/** The facts about an object, and its download: the same on its own page and in the panel beside its folder. */
export function ObjectDetails({ address, facts, style }: ObjectDetailsProps) {
  const { bytes, type, changed, etag, version, metadata, checksums } = facts;
  return (
    <>
      <section class="btns">
        <a class="btn primary" href={downloadPath(address)}>
          <Icon name="download" /> {STORAGE_LABELS.download}
        </a>
      </section>
      <section>
        <dl class="facts">
          <Fact name={STORAGE_LABELS.size}>
            {formatBytes(bytes)}
            {bytes >= 1000 && ` (${formatCount(bytes)} B)`}
          </Fact>
          <Fact name={STORAGE_LABELS.type}>{type || STORAGE_LABELS.unknown}</Fact>
          {changed !== null && (
            <Fact name={STORAGE_LABELS.changed}>
              <Moment at={changed} style={style} />
            </Fact>
          )}
          {etag !== null && <Fact name={STORAGE_LABELS.etag} isCode>{etag}</Fact>}
          {version !== null && <Fact name={STORAGE_LABELS.version} isCode>{version}</Fact>}
          {checksums.map(([name, value]) => <Fact key={name} name={name.toUpperCase()} isCode>{value}</Fact>)}
          {metadata.map(([name, value]) => <Fact key={name} name={name} isCode>{plainName(value)}</Fact>)}
        </dl>
      </section>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly isCode?: boolean;
  readonly children: ComponentChildren;
}

function Fact({ name, isCode = false, children }: FactProps) {
  return (
    <>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd class={isCode ? "vid" : undefined}>
        <bdi>{children}</bdi>
      </dd>
    </>
  );
}
