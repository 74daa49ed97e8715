/** Changes when the same seed gives other campaigns, texts or documents than before, or a drawn page changes. */
export const SAMPLES_EDITION = 6;

/** The special case that a sample manifest shows, for trying a viewer. */
type ManifestSample =
  /** Served without CORS headers, as are its images. */
  | "no-cors"
  /** Bound at the right, read from right to left. */
  | "right-to-left"
  /** Each canvas has several images to choose from. */
  | "choices"
  /** The pages in two orders, which only version 2.1 has. */
  | "sequences"
  /** Canvases and images without width and height. */
  | "no-sizes"
  /** A JSON document that is not a manifest. */
  | "not-a-manifest"
  /** Two ranges that contain each other. */
  | "cyclic-range";

/** One digitised volume of the sample archive. */
export interface SourceVolume {
  /** Unique in the archive; letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  readonly title: string;
  /** Number of pages, named `0001`, `0002`, … */
  readonly pages: number;
  /** Which IIIF Presentation API its manifest speaks. */
  readonly presentation: 2 | 3;
  readonly sample?: ManifestSample;
}

/** Volumes beside those of the campaigns, each with another kind of manifest. */
const SAMPLE_VOLUMES: readonly SourceVolume[] = [
  { id: "sample-2000-pages", title: "Domböcker i urval", pages: 2000, presentation: 3 },
  { id: "sample-no-cors", title: "Utan CORS", pages: 6, presentation: 3, sample: "no-cors" },
  { id: "sample-right-to-left", title: "Från höger till vänster", pages: 12, presentation: 3, sample: "right-to-left" },
  { id: "sample-choices", title: "Tre avbildningar av varje sida", pages: 6, presentation: 3, sample: "choices" },
  { id: "sample-sequences", title: "Två ordningar", pages: 8, presentation: 2, sample: "sequences" },
  { id: "sample-no-sizes", title: "Sidor utan mått", pages: 6, presentation: 3, sample: "no-sizes" },
  { id: "sample-not-a-manifest", title: "Inte ett manifest", pages: 1, presentation: 3, sample: "not-a-manifest" },
  { id: "sample-cyclic-range", title: "Avsnitt i ring", pages: 6, presentation: 3, sample: "cyclic-range" },
];

/** The name of a page counted from 1. */
export function pageName(page: number): string {
  return String(page).padStart(4, "0");
}

export function sourceManifestUrl(archive: string, volume: string): string {
  return `${archive}/iiif/${encodeURIComponent(volume)}/manifest.json`;
}

export function canvasUrl(archive: string, volume: string, page: number): string {
  return `${archive}/iiif/${encodeURIComponent(volume)}/canvas/${pageName(page)}`;
}

export function pageImageUrl(archive: string, volume: string, page: number): string {
  return `${archive}/image/${encodeURIComponent(volume)}/${pageName(page)}.png`;
}

export function thumbnailUrl(archive: string, volume: string, page: number): string {
  return `${archive}/thumbnail/${encodeURIComponent(volume)}/${pageName(page)}.png`;
}

export function logoUrl(archive: string): string {
  return `${archive}/logo.png`;
}

/** A series of volumes in the archive, a year of which is one campaign's work. */
export interface ArchiveSeries {
  readonly title: string;
  /** Part of the names of campaigns: lower-case letters, digits and `-`. */
  readonly slug: string;
  /** The reference code: the first part of the ids of its volumes. */
  readonly code: string;
  /** First and last year. */
  readonly years: readonly [number, number];
}

/** The volumes of a year are numbered from 1 to this. */
export const VOLUMES_OF_A_YEAR = 400;

/** Fewest and most pages of a volume. */
const PAGES = [4, 9] as const;
/** The share of volumes that are listed and were never digitised. */
const MISSING_SHARE = 0.02;

/** The id of a volume of a series. */
export function catalogueId({ code }: ArchiveSeries, year: number, number: number): string {
  return `${code}-${year}-${String(number).padStart(4, "0")}`;
}

/**
 * The volume of an id; null for an id that the catalogue does not have, and for a volume that was never digitised. It
 * follows from seed and id alone, so no list of volumes is stored.
 */
export function catalogueVolume(seed: number, id: string): SourceVolume | null {
  const match = /^(.+)-(\d{4})-(\d{4})$/.exec(id);
  const series = match && BY_CODE.get(match[1]);
  if (!match || !series) return null;
  const [year, number] = [Number(match[2]), Number(match[3])];
  if (year < series.years[0] || year > series.years[1] || number < 1 || number > VOLUMES_OF_A_YEAR) return null;
  const random = seededRandom("catalogue", seed, id);
  if (random() < MISSING_SHARE) return null;
  return {
    id,
    title: `${series.title} ${year}, volym ${number}`,
    pages: between(random, ...PAGES),
    presentation: random() < 0.25 ? 2 : 3,
  };
}

/** Finds a volume of the archive by its id. */
export type VolumeFinder = (id: string) => SourceVolume | null;

/** A finder of `volumes`, of {@link SAMPLE_VOLUMES} and of those in the catalogue. */
export function volumeFinder(seed: number, volumes: Iterable<SourceVolume>): VolumeFinder {
  const named = new Map([...volumes, ...SAMPLE_VOLUMES].map((volume) => [volume.id, volume]));
  return (id) => named.get(id) ?? catalogueVolume(seed, id);
}

type SeriesRow = readonly [title: string, slug: string, code: string, from: number, to: number];

const SERIES: readonly SeriesRow[] = [
  ["Svea hovrätt, domar", "svea-hovratt-domar", "SE-RA-420422-01-A1", 1650, 1869],
  ["Göta hovrätt, inneliggande handlingar", "gota-hovratt", "SE-VALA-00382-E6", 1660, 1880],
  ["Hovrätten över Skåne och Blekinge, protokoll", "skanska-hovratten", "SE-LLA-10001-A2", 1821, 1930],
  ["Kommerskollegium, huvudarkivet, protokoll", "kommerskollegium", "SE-RA-522-01-A1", 1651, 1812],
  ["Bergskollegium, relationer", "bergskollegium-relationer", "SE-RA-420-01-E2", 1640, 1857],
  ["Kammarkollegiet, jordeböcker", "kammarkollegiet-jordebocker", "SE-RA-522-03-G1", 1630, 1790],
  ["Krigskollegium, generalmönsterrullor", "generalmonsterrullor", "SE-KRA-0023-D1", 1683, 1883],
  ["Amiralitetskollegium, brevböcker", "amiralitetskollegium", "SE-KRA-0503-B1", 1634, 1803],
  ["Justitierevisionen, utslagshandlingar", "justitierevisionen", "SE-RA-108-E1", 1690, 1880],
  ["Rådhusrätten i Stockholm, bouppteckningar", "stockholm-bouppteckningar", "SE-SSA-0145A-F1A", 1680, 1880],
  ["Stockholms konsistorium, protokoll", "stockholms-konsistorium", "SE-SSA-0011-A1", 1620, 1800],
  ["Katarina församling, födelseböcker", "katarina-fodelsebocker", "SE-SSA-0008-C1", 1640, 1894],
  ["Överståthållarämbetet, mantalslängder", "mantalslangder-stockholm", "SE-SSA-0031-G1", 1660, 1880],
  ["Göteborgs domkapitel, protokoll", "goteborgs-domkapitel", "SE-GLA-12001-A1", 1660, 1890],
  ["Göteborgs rådhusrätt, bouppteckningar", "goteborg-bouppteckningar", "SE-GLA-13001-E3", 1720, 1900],
  ["Ostindiska kompaniet, skeppsjournaler", "ostindiska-kompaniet", "SE-GLA-12703-F1", 1732, 1806],
  ["Sävedals häradsrätt, domböcker", "savedals-haradsratt", "SE-GLA-11053-A1A", 1640, 1890],
  ["Vadsbo häradsrätt, domböcker", "vadsbo-haradsratt", "SE-GLA-11076-A1", 1670, 1895],
  ["Växjö domkapitel, visitationer", "vaxjo-domkapitel", "SE-VALA-00421-E4", 1680, 1890],
  ["Östbo häradsrätt, domböcker", "ostbo-haradsratt", "SE-VALA-01640-A1", 1651, 1899],
  ["Kalmar rådhusrätt, protokoll", "kalmar-radhusratt", "SE-VALA-01211-A1", 1630, 1880],
  ["Visby rådhusrätt, inteckningar", "visby-radhusratt", "SE-VALA-01360-A2", 1690, 1900],
  ["Linköpings domkapitel, brev", "linkopings-domkapitel", "SE-VALA-00215-E2", 1650, 1880],
  ["Sjömanshuset i Västervik, inskrivningar", "sjomanshuset-vastervik", "SE-VALA-02204-D1", 1752, 1890],
  ["Lunds domkapitel, prästmöten", "lunds-domkapitel", "SE-LLA-30003-A4", 1690, 1890],
  ["Malmö rådhusrätt, domböcker", "malmo-radhusratt", "SE-LLA-10223-A1", 1660, 1880],
  ["Frosta häradsrätt, domböcker", "frosta-haradsratt", "SE-LLA-10048-A1", 1684, 1890],
  ["Kristianstads länsräkenskaper", "kristianstads-lan", "SE-LLA-10381-G2", 1719, 1870],
  ["Uppsala domkapitel, protokoll", "uppsala-domkapitel", "SE-ULA-11632-A1", 1600, 1880],
  ["Norunda häradsrätt, domböcker", "norunda-haradsratt", "SE-ULA-11404-A1", 1640, 1890],
  ["Strängnäs domkapitel, handlingar", "strangnas-domkapitel", "SE-ULA-12012-E1", 1650, 1880],
  ["Falu gruva, bergsrättens protokoll", "falu-bergsratt", "SE-ULA-10255-A1", 1631, 1850],
  ["Stora Kopparbergs bergslag, räkenskaper", "stora-kopparberget", "SE-ULA-10280-G1", 1690, 1880],
  ["Örebro rådhusrätt, domböcker", "orebro-radhusratt", "SE-ULA-11890-A1", 1650, 1880],
  ["Härnösands domkapitel, husförhör", "harnosands-domkapitel", "SE-HLA-1030001-A1", 1690, 1895],
  ["Lövångers församling, husförhörslängder", "lovanger-husforhor", "SE-HLA-1010127-A1", 1724, 1895],
  ["Lappmarksfogden, uppbördsböcker", "lappmarksfogden", "SE-HLA-1040021-G1", 1650, 1810],
  ["Jämtlands domsaga, domböcker", "jamtlands-domsaga", "SE-OLA-10101-A1", 1649, 1890],
  ["Karlstads domkapitel, konsistorieprotokoll", "karlstads-domkapitel", "SE-VA-13015-A1", 1700, 1890],
  ["Lantmäteristyrelsen, skifteshandlingar", "lantmateriet-skiften", "SE-RA-730128-A2", 1757, 1900],
];

export const CATALOGUE: readonly ArchiveSeries[] = SERIES.map(([title, slug, code, from, to]) => {
  return { title, slug, code, years: [from, to] };
});

const BY_CODE: ReadonlyMap<string, ArchiveSeries> = new Map(CATALOGUE.map((entry) => [entry.code, entry]));

/** Every page has this size, in pixels. */
export const PAGE_WIDTH = 1600;
export const PAGE_HEIGHT = 2208;
export const THUMBNAIL = { width: 200, height: 276 };
/** The size of the logo, in pixels. */
export const LOGO = { width: 90, height: 45 };

/** The pages of `pages/` are two books, each of one year and on one paper. Even, so that right pages stay right pages. */
const PAGES_OF_A_BOOK = 14;
const DRAWN_PAGES = 2 * PAGES_OF_A_BOOK;
const FOLDER = new URL("./pages/", import.meta.url);

/** The number of the drawn page, from 1, that a volume shows as its page `page`; volumes share the drawn pages. */
export function drawnPage(volume: string, page: number): number {
  // An even start: the first page is a right one, with its binding on the left.
  const start = 2 * between(seededRandom("pages", volume), 0, DRAWN_PAGES / 2 - 1);
  const place = start % PAGES_OF_A_BOOK;
  return start - place + (place + page - 1) % PAGES_OF_A_BOOK + 1;
}

/** The file of a drawn page's image or thumbnail. */
export function imageFile(number: number, kind: "image" | "thumbnail"): URL {
  return new URL(`${fileName(number)}${kind === "image" ? "" : "_small"}.png`, FOLDER);
}

export const LOGO_FILE = new URL("logo.png", FOLDER);

/** The ALTO file of a drawn page, in pixels of its image. Read once, because logs of workers show its number of lines. */
export function drawnAlto(number: number): string {
  return altos[number] ??= Deno.readTextFileSync(new URL(`${fileName(number)}.xml`, FOLDER));
}

const altos: string[] = [];

function fileName(number: number): string {
  return String(number).padStart(2, "0");
}

/**
 * A stream of numbers in [0, 1) that depends on its parts alone: equal parts, equal stream, on every machine.
 *
 * For sample data only; it keeps no secret.
 */
export function seededRandom(...parts: readonly (string | number)[]): () => number {
  let state = fingerprint(parts.join("\u0000"));
  // mulberry32, a public-domain generator with 32 bits of state.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A whole number from `low` to `high`, both included. */
export function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** One element of a list that is not empty. */
export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)];
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
