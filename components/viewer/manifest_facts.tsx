import { securedAddress } from "@/lib/client/secured_address.ts";
import type { ImageSource, Manifest, MetadataEntry, Provider, Reference } from "@/lib/presentation/iiif/manifest.ts";
import { webAddressOf } from "@/lib/presentation/iiif/rights.ts";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";

/** What a manifest says of itself: title, description, metadata, rights, and who provides it. All of it is text. */
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
export function Fact({ label, values }: MetadataEntry) {
  return (
    <>
      <dt>{label}</dt>
      {values.map((value, place) => <dd key={place}>{value}</dd>)}
    </>
  );
}

/** Links, a line each. */
export function Links({ links }: { links: readonly Reference[] }) {
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
      {logos.map((logo, place) => <Logo key={place} logo={logo} name={label} />)}
      {label !== "" && <p>{label}</p>}
      <Links links={homepages} />
    </div>
  );
}

function Logo({ logo, name }: { logo: ImageSource; name: string }) {
  return logo.href === null ? null : <img src={securedAddress(logo.href)} alt={VIEWER_LABELS.logo(name)} />;
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
