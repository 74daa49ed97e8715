import {
  canvasUrl,
  LOGO,
  logoUrl,
  PAGE_HEIGHT,
  PAGE_WIDTH,
  pageImageUrl,
  pageName,
  sourceManifestUrl,
  type SourceVolume,
  THUMBNAIL,
  thumbnailUrl,
} from "./catalogue.ts";

/** The width and height of an image, where the manifest states them. */
type Size = { readonly width?: number; readonly height?: number };
/** A JSON document of the archive. */
type Document = Record<string, unknown>;

export const PAGE: Size = { width: PAGE_WIDTH, height: PAGE_HEIGHT };
const RIGHTS = "https://creativecommons.org/publicdomain/zero/1.0/";
const ARCHIVE_NAME = "Det inbyggda arkivet";
const CREDIT = "Sidorna är ritade av programmet och har inga förlagor.";
const SECTION_TITLES = [
  "Vintertinget",
  "Sommartinget",
  "Hösttinget",
  "Uppbudsprotokoll",
  "Bouppteckningar",
  "Register",
];
/** Pages of a section of the table of contents. */
const SECTION_PAGES = 4;
/** Sections of a part; a volume with more of them has several parts. */
const PART_SECTIONS = 10;
/** Images on each canvas of a volume with choices. */
const CHOICES = 3;

/** The manifest of a volume in the IIIF Presentation API (2.1 or 3.0) that the volume speaks. */
export function sourceManifest(archive: string, volume: SourceVolume): Document {
  if (volume.sample === "not-a-manifest") return { title: volume.title, pages: volume.pages };
  return volume.presentation === 3 ? presentation3(archive, volume) : presentation2(archive, volume);
}

/** Part of the table of contents; a page number is that of a canvas. */
interface Section {
  readonly id: string;
  readonly label: string;
  readonly members: readonly (Section | number)[];
}

/** The sections of a volume; long ones are grouped into parts. */
function sectionsOf(archive: string, volume: SourceVolume): Section[] {
  const base = `${sourceManifestUrl(archive, volume.id).slice(0, -"manifest.json".length)}range`;
  const sections = slices(pagesOf(volume), SECTION_PAGES).map((members, index): Section => {
    return { id: `${base}/${index + 1}`, label: SECTION_TITLES[index % SECTION_TITLES.length], members };
  });
  if (sections.length <= PART_SECTIONS) return sections;
  return slices(sections, PART_SECTIONS).map((members, index) => {
    return { id: `${base}/part-${index + 1}`, label: `Del ${index + 1}`, members };
  });
}

function presentation3(archive: string, volume: SourceVolume): Document {
  const { sample } = volume;
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: sourceManifestUrl(archive, volume.id),
    type: "Manifest",
    label: { sv: [volume.title] },
    summary: { sv: [`${volume.pages} sidor ur ett påhittat arkiv.`] },
    metadata: [
      { label: { sv: ["Referenskod"], en: ["Reference code"] }, value: { none: [volume.id] } },
      { label: { sv: ["Omfång"], en: ["Extent"] }, value: { sv: [`${volume.pages} sidor`] } },
    ],
    rights: RIGHTS,
    requiredStatement: { label: { sv: ["Källa"], en: ["Attribution"] }, value: { sv: [CREDIT] } },
    provider: [{
      id: archive,
      type: "Agent",
      label: { sv: [ARCHIVE_NAME] },
      logo: [image3(logoUrl(archive), LOGO)],
    }],
    thumbnail: [image3(thumbnailUrl(archive, volume.id, 1), THUMBNAIL)],
    behavior: ["paged"],
    ...(sample === "right-to-left" && { viewingDirection: "right-to-left" }),
    items: pagesOf(volume).map((page) => canvas3(archive, volume, page)),
    structures: sample === "cyclic-range"
      ? cyclicRanges(archive, volume)
      : sectionsOf(archive, volume).map((section) => range3(archive, volume, section)),
  };
}

function canvas3(archive: string, volume: SourceVolume, page: number): Document {
  const id = canvasUrl(archive, volume.id, page);
  return {
    id,
    type: "Canvas",
    label: { none: [pageName(page)] },
    ...sizeOf(volume),
    thumbnail: [image3(thumbnailUrl(archive, volume.id, page), THUMBNAIL)],
    items: painting(id, [`${id}/annotations`, `${id}/annotations/image`], body3(archive, volume, page)),
  };
}

/** The items of a canvas: a page with one annotation, which paints the canvas. */
export function painting(
  canvas: string,
  [page, annotation]: readonly [page: string, annotation: string],
  body: Document,
) {
  const item = { id: annotation, type: "Annotation", motivation: "painting", target: canvas, body };
  return [{ id: page, type: "AnnotationPage", items: [item] }];
}

function body3(archive: string, volume: SourceVolume, page: number): Document {
  const image = (page: number) => image3(pageImageUrl(archive, volume.id, page), sizeOf(volume));
  if (volume.sample !== "choices") return image(page);
  const items = Array.from({ length: CHOICES }, (_, index) => {
    return { ...image((page - 1 + index) % volume.pages + 1), label: { en: [`Leaf ${index + 1}`] } };
  });
  return { type: "Choice", items };
}

/** An image of a page or of the archive. */
export function image3(id: string, size: Size): Document {
  return { id, type: "Image", format: "image/png", ...size };
}

function range3(archive: string, volume: SourceVolume, { id, label, members }: Section): Document {
  const items = members.map((member) =>
    typeof member === "number"
      ? { id: canvasUrl(archive, volume.id, member), type: "Canvas" }
      : range3(archive, volume, member)
  );
  return { id, type: "Range", label: { sv: [label] }, items };
}

/** Two ranges, each of which contains the other: a viewer must not follow them without end. */
function cyclicRanges(archive: string, volume: SourceVolume): Document[] {
  const [first, second] = sectionsOf(archive, volume);
  return [[first, second], [second, first]].map(([range, other]) => {
    const { items, ...rest } = range3(archive, volume, range);
    return { ...rest, items: [...items as Document[], { id: other.id, type: "Range" }] };
  });
}

function presentation2(archive: string, volume: SourceVolume): Document {
  const id = sourceManifestUrl(archive, volume.id);
  const base = id.slice(0, -"manifest.json".length);
  const canvases = pagesOf(volume).map((page) => canvas2(archive, volume, page));
  const sequence = { "@id": `${base}sequence/normal`, "@type": "sc:Sequence", label: "Sidorna i ordning", canvases };
  // The right pages first, as a scanner with one camera takes them.
  const scanned = [
    ...canvases.filter((_, index) => index % 2 === 0),
    ...canvases.filter((_, index) => index % 2 === 1),
  ];
  const other = { ...sequence, "@id": `${base}sequence/scanned`, label: "I skanningens ordning", canvases: scanned };
  const sections = sectionsOf(archive, volume);
  const top: Section = { id: `${base}range/top`, label: "Innehåll", members: sections };
  return {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "@id": id,
    "@type": "sc:Manifest",
    label: volume.title,
    description: `${volume.pages} sidor ur ett påhittat arkiv.`,
    metadata: [
      { label: [{ "@value": "Referenskod", "@language": "sv" }], value: volume.id },
      { label: [{ "@value": "Omfång", "@language": "sv" }], value: `${volume.pages} sidor` },
    ],
    license: RIGHTS,
    attribution: CREDIT,
    logo: { "@id": logoUrl(archive) },
    thumbnail: image2(thumbnailUrl(archive, volume.id, 1), THUMBNAIL),
    viewingHint: "paged",
    sequences: volume.sample === "sequences" ? [sequence, other] : [sequence],
    structures: [
      { ...range2(archive, volume, top), viewingHint: "top" },
      ...allSections(sections).map((section) => range2(archive, volume, section)),
    ],
  };
}

function canvas2(archive: string, volume: SourceVolume, page: number): Document {
  const id = canvasUrl(archive, volume.id, page);
  return {
    "@id": id,
    "@type": "sc:Canvas",
    label: pageName(page),
    ...PAGE,
    thumbnail: image2(thumbnailUrl(archive, volume.id, page), THUMBNAIL),
    images: [{
      "@id": `${id}/annotations/image`,
      "@type": "oa:Annotation",
      motivation: "sc:painting",
      on: id,
      resource: image2(pageImageUrl(archive, volume.id, page), PAGE),
    }],
  };
}

function image2(id: string, size: Size): Document {
  return { "@id": id, "@type": "dctypes:Image", format: "image/png", ...size };
}

function range2(archive: string, volume: SourceVolume, { id, label, members }: Section): Document {
  const pages = members.filter((member) => typeof member === "number");
  const ranges = members.filter((member) => typeof member !== "number");
  return {
    "@id": id,
    "@type": "sc:Range",
    label,
    ...(pages.length > 0 && { canvases: pages.map((page) => canvasUrl(archive, volume.id, page)) }),
    ...(ranges.length > 0 && { ranges: ranges.map((range) => range.id) }),
  };
}

/** Sections with those inside them: version 2.1 has them in one list. */
function allSections(sections: readonly Section[]): Section[] {
  return sections.flatMap((section) => [
    section,
    ...allSections(section.members.filter((member) => typeof member !== "number")),
  ]);
}

/** The width and height of a page, where the manifest states them. */
function sizeOf(volume: SourceVolume): Size {
  return volume.sample === "no-sizes" ? {} : PAGE;
}

function pagesOf(volume: SourceVolume): number[] {
  return Array.from({ length: volume.pages }, (_, index) => index + 1);
}

function slices<T>(list: readonly T[], size: number): T[][] {
  return Array.from(
    { length: Math.ceil(list.length / size) },
    (_, index) => list.slice(index * size, (index + 1) * size),
  );
}
