import { useSignal } from "@preact/signals";
import type { Ref } from "preact";
import { useMemo } from "preact/hooks";

import { ToolButton } from "@/components/icon.tsx";
import { securedAddress } from "@/lib/pages/browser/fetch_text_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { wholeImageOf } from "@/lib/pages/iiif/image_service.ts";
import type { Canvas, Manifest, MetadataEntry, Provider, Reference } from "@/lib/pages/iiif/manifest.ts";
import { webAddressOf } from "@/lib/pages/iiif/resources.ts";
import { VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";
import { ContentsList } from "./contents_list.tsx";

interface AboutDrawerProps {
  readonly store: ViewerStore;
  readonly manifest: Manifest;
  readonly drawer: Ref<HTMLDivElement>;
  readonly onClose: () => void;
  /** Offers the text of a page as a file. */
  readonly onSaveText: (index: number) => void;
}

/** Contents, facts and downloads of the manifest and of the pages that are shown. */
export function AboutDrawer({ store, manifest, drawer, onClose, onSaveText }: AboutDrawerProps) {
  // A long table of contents is rendered only while it is visible.
  const isOpen = useSignal(false);
  const url = store.url.value;
  const unreadable = useMemo(() => manifest.canvases.filter(({ isReadable }) => !isReadable).length, [manifest]);
  return (
    <div
      class="drawer"
      popover="auto"
      role="dialog"
      aria-labelledby="about-title"
      ref={drawer}
      onToggle={({ currentTarget, newState }) => {
        isOpen.value = newState === "open";
        // When it closes, the browser gives the focus back to what had it.
        if (isOpen.value) currentTarget.querySelector("button")?.focus();
      }}
    >
      <header>
        <h2 id="about-title">{VIEWER_LABELS.about}</h2>
        <ToolButton icon="close" name={VIEWER_LABELS.close} onClick={onClose} />
      </header>
      {isOpen.value && (
        <>
          {manifest.alternativeOrders.length > 0 && <OrderChoice store={store} manifest={manifest} />}
          {manifest.ranges.length > 0 && (
            <nav aria-labelledby="contents-title">
              <h3 id="contents-title">{VIEWER_LABELS.contents}</h3>
              <p class="sr" id="contents-keys">{VIEWER_LABELS.contentsKeys}</p>
              <ContentsList ranges={manifest.ranges} store={store} />
            </nav>
          )}
          <ManifestFacts manifest={manifest} />
          {store.shownInOrder.value.map((index) => (
            <PageFacts
              key={index}
              canvas={manifest.canvases[index]}
              choice={store.chosen(index, 0)}
              onSaveText={() => onSaveText(index)}
            />
          ))}
          <section>
            <h3>{VIEWER_LABELS.wholeVolume}</h3>
            <Links links={[...manifest.renderings, { href: url, label: VIEWER_LABELS.manifestFile }]} />
            {unreadable > 0 && <p class="note">{VIEWER_LABELS.unreadablePages(unreadable)}</p>}
          </section>
        </>
      )}
    </div>
  );
}

interface PageFactsProps {
  readonly canvas: Canvas;
  /** Place of the chosen image among those of the page's first painting. */
  readonly choice: number;
  readonly onSaveText: () => void;
}

/** Metadata and files of a page. */
function PageFacts({ canvas, choice, onSaveText }: PageFactsProps) {
  const choices = canvas.images[0]?.choices ?? [];
  const chosen = choices[choice] ?? choices[0];
  const image = chosen && wholeImageOf(chosen.source);
  const { metadata, requiredStatement, summary, altoSources, renderings, seeAlso, homepages } = canvas;
  const others = seeAlso.filter(({ href }) => !altoSources.some((alto) => alto.href === href));
  return (
    <section>
      <h3>{VIEWER_LABELS.pageNamed(canvas.label)}</h3>
      {summary !== null && <p class="prose">{summary}</p>}
      {(metadata.length > 0 || requiredStatement) && (
        <dl class="facts">
          {metadata.map((entry, place) => <Fact key={place} {...entry} />)}
          {requiredStatement && <Fact {...requiredStatement} />}
        </dl>
      )}
      <ul class="links">
        {image && (
          <li>
            <a href={image.href} download target="_blank" rel="noreferrer">{VIEWER_LABELS.pageImage}</a>
          </li>
        )}
        {altoSources.length > 0 && (
          <li>
            <button class="link" type="button" onClick={onSaveText}>{VIEWER_LABELS.pageText}</button>
          </li>
        )}
        {altoSources.map(({ href }) => (
          <li key={href}>
            <a href={href} download rel="noreferrer">{VIEWER_LABELS.pageAlto}</a>
          </li>
        ))}
      </ul>
      <Links links={[...renderings, ...homepages, ...others]} />
    </section>
  );
}

function OrderChoice({ store, manifest }: { store: ViewerStore; manifest: Manifest }) {
  return (
    <section>
      <label class="choice">
        {VIEWER_LABELS.order}
        <select
          value={String(store.orderIndex.value ?? "")}
          onChange={({ currentTarget: { value } }) => store.chooseOrder(value === "" ? null : Number(value))}
        >
          <option value="">{VIEWER_LABELS.ownOrder}</option>
          {manifest.alternativeOrders.map(({ label }, place) => (
            <option key={place} value={String(place)}>
              {label === "" ? VIEWER_LABELS.orderNumber(place + 2) : label}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}

/** Title, description, metadata, rights and providers of a manifest, all as plain text. */
export function ManifestFacts({ manifest }: { manifest: Manifest }) {
  const { label, summary, metadata, requiredStatement, rights, navDate, providers, homepages, seeAlso } = manifest;
  return (
    <section>
      <h3>{VIEWER_LABELS.facts}</h3>
      {summary !== null && <p class="prose">{summary}</p>}
      <dl class="facts">
        <Fact label={VIEWER_LABELS.title} values={[label]} />
        {metadata.map((entry, place) => <Fact key={place} {...entry} />)}
        {navDate !== null && <Fact label={VIEWER_LABELS.date} values={[navDate]} />}
        {requiredStatement && <Fact {...requiredStatement} />}
        {rights !== null && (
          <>
            <dt>{VIEWER_LABELS.rights}</dt>
            <dd>
              {webAddressOf(rights) === null
                ? rights
                : <a href={rights} rel="license noreferrer">{rightsName(rights)}</a>}
            </dd>
          </>
        )}
      </dl>
      {providers.map((provider, place) => <ProviderNote key={place} {...provider} />)}
      <Links links={[...homepages, ...seeAlso]} />
    </section>
  );
}

/** A label with its values. */
function Fact({ label, values }: MetadataEntry) {
  return (
    <>
      <dt>{label}</dt>
      {values.map((value, place) => <dd key={place}>{value}</dd>)}
    </>
  );
}

/** Links, a line each. */
function Links({ links }: { links: readonly Pick<Reference, "href" | "label">[] }) {
  if (links.length === 0) return null;
  return (
    <ul class="links">
      {links.map(({ href, label }, place) => (
        <li key={place}>
          {href === null ? label : <a href={href} rel="noreferrer">{label}</a>}
        </li>
      ))}
    </ul>
  );
}

function ProviderNote({ label, homepages, logos }: Provider) {
  return (
    <div class="provider">
      {logos.map(({ href }, place) =>
        href !== null && <img key={place} src={securedAddress(href)} alt={VIEWER_LABELS.logo(label)} />
      )}
      {label !== "" && <p>{label}</p>}
      <Links links={homepages} />
    </div>
  );
}

/** The name of a well-known licence or statement, else its address. */
function rightsName(address: string): string {
  const { host, pathname } = new URL(address);
  if (/(^|\.)creativecommons\.org$/.test(host)) {
    if (pathname.startsWith("/publicdomain/zero/")) return VIEWER_LABELS.noRights;
    if (pathname.startsWith("/publicdomain/mark/")) return VIEWER_LABELS.publicDomain;
    const licence = /^\/licenses\/([a-z-]+)\/(\d\.\d)/.exec(pathname);
    if (licence) return `CC ${licence[1].toUpperCase()} ${licence[2]}`;
  }
  if (/(^|\.)rightsstatements\.org$/.test(host)) {
    const statement = /\/vocab\/([A-Za-z-]+)\//.exec(pathname)?.[1];
    if (statement !== undefined) return `RightsStatements.org: ${statement}`;
  }
  return address;
}
