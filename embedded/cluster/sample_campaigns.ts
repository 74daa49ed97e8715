import { createHash } from "node:crypto";
import {
  type ArchiveSeries,
  between,
  CATALOGUE,
  catalogueId,
  catalogueVolume,
  pick,
  seededRandom,
  type SourceVolume,
  VOLUMES_OF_A_YEAR,
} from "@/embedded/archive/catalogue.ts";

/** How workers process the pages of a campaign. */
export interface Pipeline {
  readonly id: string;
  /** The steps document, in YAML. */
  readonly document: string;
  /** The model of the recognition step. */
  readonly model: string;
  /** null: the pipeline does not pin it. */
  readonly revision: string | null;
  readonly scoresQuality: boolean;
}

export interface SamplePipeline extends Pipeline {
  /** Work of the warm-up, in seconds. */
  readonly warmupSeconds: number;
  /** The failure of the warm-up; null where it succeeds. */
  readonly warmupError: string | null;
}

/** SHA-256 of a pipeline's steps document, in hex. */
export function pipelineDigest({ document }: Pipeline): string {
  return createHash("sha256").update(document).digest("hex");
}

/** The revision of the model that predicts quality. */
export const QUALITY_REVISION = "b7e0d5529c1f4e6aa2d88f3013c7e94b5d60aa17";

function samplePipeline(facts: Omit<SamplePipeline, "document">): SamplePipeline {
  const revision = facts.revision === null ? "" : `\n        revision: ${facts.revision}`;
  const quality = !facts.scoresQuality ? "" : `
  - step: QualityPrediction
    settings:
      model_settings:
        model: Riksarkivet/page-quality-1
        model_kwargs:
          revision: ${QUALITY_REVISION}`;
  const document = `steps:
  - step: Segmentation
    settings:
      model: yolo
      model_settings:
        model: Riksarkivet/yolov9-lines-within-regions-1
  - step: TextRecognition
    settings:
      model: TrOCR
      model_settings:
        model: ${facts.model}${revision}
  - step: OrderLines${quality}
  - step: Export
    settings:
      format: alto
`;
  return { ...facts, document };
}

const LION = {
  model: "Riksarkivet/trocr-base-handwritten-hist-swe-2",
  revision: "4f1c2ab9d07e5c3816f2a7740be95d1c6e3f8a20",
  scoresQuality: true,
  warmupSeconds: 80,
  warmupError: null,
};

const LION_V1 = samplePipeline({ ...LION, id: "swedish-lion-v1", revision: null, scoresQuality: false });
const LION_V2 = samplePipeline({ ...LION, id: "swedish-lion-v2" });
const CHURCH_BOOKS = samplePipeline({ ...LION, id: "church-books-v1.2", warmupSeconds: 160 });
const COURT_RECORDS = samplePipeline({ ...LION, id: "court-records-v2.0", warmupSeconds: 60 });
/** Its warm-up fails, so no volume of its campaigns starts. */
const MAPS = samplePipeline({
  id: "maps-v1",
  model: "Riksarkivet/yolov9-regions-1",
  revision: null,
  scoresQuality: false,
  warmupSeconds: 45,
  warmupError: "No space left on device: /data/models/maps-v1",
});

const ALL = [LION_V1, LION_V2, CHURCH_BOOKS, COURT_RECORDS, MAPS];

/** The sample pipeline of an id. */
export function samplePipelineOf(id: string): SamplePipeline | undefined {
  return ALL.find((pipeline) => pipeline.id === id);
}

/** The failure of a sample volume, and the page (from 1) where it happens. */
export type Trouble =
  /** volumes.txt has no source for the index: permanent, exit 13. */
  | { readonly kind: "config"; readonly error: string }
  /** The manifest cannot be read: permanent, exit 13. */
  | { readonly kind: "manifest"; readonly error: string }
  /** Some pages always fail: verification fails on every attempt. */
  | { readonly kind: "verify"; readonly pages: readonly number[] }
  /** The container is killed for its memory, on every attempt. */
  | { readonly kind: "memory"; readonly page: number }
  /** The store fails in the first attempts; a later one succeeds. */
  | { readonly kind: "transient"; readonly page: number; readonly attempts: number }
  /** The node evicts the pod once, which costs no retry. */
  | { readonly kind: "evicted"; readonly page: number }
  /** The model hangs until the pod's deadline, on every attempt. */
  | { readonly kind: "stuck"; readonly page: number };

/** A volume of a campaign, as its worker sees it. */
export interface CampaignVolume {
  /** Unique in its campaign. */
  readonly id: string;
  readonly title: string;
  readonly pages: number;
  /** Listed in volumes.txt by its images instead of its manifest. */
  readonly byImages: boolean;
  readonly trouble: Trouble | null;
  /** The page of the archive that is page `page` of the volume. */
  readonly scanOf: (page: number) => Scan;
}

/** A page of a volume in the archive, counted from 1. */
export interface Scan {
  readonly volume: string;
  readonly page: number;
}

interface SampleVolume extends CampaignVolume, SourceVolume {}

/** A campaign as its workers see it. */
export interface Campaign {
  readonly pipeline: Pipeline;
  /** Work per page, in seconds, on average. */
  readonly secondsPerPage: number;
  /** The share of pages that fail without failing their volume. */
  readonly lostPages: number;
  readonly volumes: readonly CampaignVolume[];
}

export interface SampleCampaign extends Campaign {
  readonly name: string;
  readonly pipeline: SamplePipeline;
  readonly parallelism: number;
  /** A pod may take this long, in seconds of work. */
  readonly deadlineSeconds: number;
  /** How long before the first start it was submitted, in seconds; `work` shrinks with the simulator's speed, `calendar` does not. */
  readonly submitted: { readonly work: number } | { readonly calendar: number };
  /** Suspended by its owner after this many seconds of work. */
  readonly pausedAfter: number | null;
  /** How long its Job stays after its end, in seconds. */
  readonly ttlSeconds: number;
  /** Its failures were recorded while its Job was there. */
  readonly failuresRecorded: boolean;
  readonly volumes: readonly SampleVolume[];
}

/**
 * The campaigns of a first start, most of them submitted before it. Their names and volumes are the same for every seed, the
 * numbers of pages are not.
 */
export function sampleCampaigns(seed: number): readonly SampleCampaign[] {
  return CAMPAIGNS.map(({ series, troubles = {}, imagesEvery = Infinity, ...campaign }) => {
    const { title, prefix, first, count, pages } = series;
    const volumes = Array.from({ length: count }, (_, index): SampleVolume => {
      const random = seededRandom("volume", seed, campaign.name, index);
      const number = String(first + index).padStart(4, "0");
      const trouble = troubles[index] ?? null;
      const id = `${prefix}${number}`;
      return {
        id,
        title: `${title}, volym ${first + index}`,
        pages: Math.max(between(random, ...pages), leastPages(trouble)),
        presentation: random() < 0.25 ? 2 : 3,
        byImages: index % imagesEvery === imagesEvery - 1,
        trouble,
        scanOf: (page) => ({ volume: id, page }),
      };
    });
    return { ...campaign, volumes };
  });
}

/** Every volume that the sample campaigns read, for the archive that serves them; those without a manifest are left out. */
export function sampleVolumes(seed: number): SourceVolume[] {
  return sampleCampaigns(seed).flatMap(({ volumes }) =>
    volumes.filter((volume) => volume.trouble?.kind !== "manifest")
  );
}

/** The archive does not have the manifest. */
export const NOT_FOUND: Trouble = { kind: "manifest", error: "manifest unreadable: the archive answered 404" };

function leastPages(trouble: Trouble | null): number {
  if (trouble?.kind === "verify") return Math.max(...trouble.pages) + 1;
  return trouble && "page" in trouble ? trouble.page + 1 : 0;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Volumes with consecutive numbers. */
interface Series {
  readonly title: string;
  readonly prefix: string;
  readonly first: number;
  readonly count: number;
  /** Fewest and most pages of a volume. */
  readonly pages: readonly [number, number];
}

function series(title: string, prefix: string, [first, count]: [number, number], pages: Series["pages"]): Series {
  return { title, prefix, first, count, pages };
}

interface Outline extends Omit<SampleCampaign, "volumes"> {
  readonly series: Series;
  /** Keyed by the index of the volume. */
  readonly troubles?: Readonly<Record<number, Trouble | undefined>>;
  /** Each n-th volume is listed by its images. */
  readonly imagesEvery?: number;
}

const USUAL = {
  parallelism: 2,
  secondsPerPage: 5,
  deadlineSeconds: 21_600,
  lostPages: 0.012,
  pausedAfter: null,
  ttlSeconds: 7 * DAY,
  failuresRecorded: false,
} as const;

const CAMPAIGNS: readonly Outline[] = [
  {
    ...USUAL,
    name: "sjomanshuset-visby-1844",
    series: series("Sjömanshuset i Visby 1844", "SE-VALA-1844-D1-", [11, 10], [5, 10]),
    pipeline: LION_V1,
    submitted: { calendar: 9 * DAY + 3 * HOUR },
    failuresRecorded: true,
    troubles: { 6: NOT_FOUND },
  },
  {
    ...USUAL,
    name: "goteborg-domkapitel-1790",
    series: series("Göteborgs domkapitel 1790", "SE-GLA-1790-A2-", [3, 14], [6, 13]),
    pipeline: LION_V1,
    deadlineSeconds: 600,
    submitted: { calendar: 3 * DAY + 5 * HOUR },
    troubles: {
      2: { kind: "transient", page: 4, attempts: 1 },
      4: NOT_FOUND,
      7: { kind: "verify", pages: [3, 5] },
      8: { kind: "evicted", page: 3 },
      10: { kind: "memory", page: 5 },
      11: { kind: "stuck", page: 2 },
    },
    imagesEvery: 6,
  },
  {
    ...USUAL,
    name: "bergskollegium-1720",
    series: series("Bergskollegium, huvudarkivet 1720", "SE-RA-420-1720-B-", [101, 12], [6, 16]),
    pipeline: LION_V2,
    parallelism: 3,
    lostPages: 0,
    submitted: { calendar: DAY + 7 * HOUR },
    troubles: { 5: { kind: "transient", page: 3, attempts: 2 } },
  },
  {
    ...USUAL,
    name: "radhusratten-stockholm-1651",
    series: series("Rådhusrätten i Stockholm 1651", "SE-SSA-0145-1651-", [1, 20], [4, 10]),
    pipeline: LION_V1,
    submitted: { calendar: 26 * HOUR },
    pausedAfter: 260,
    imagesEvery: 7,
  },
  {
    ...USUAL,
    name: "kommerskollegium-kartor",
    series: series("Kommerskollegium, kartor", "SE-RA-522-K-", [40, 6], [4, 8]),
    pipeline: MAPS,
    submitted: { work: 12 * 60 },
  },
  {
    ...USUAL,
    name: "svea-hovratt-1870",
    series: series("Svea hovrätt, domar 1870", "SE-SVEAH-1870-A1-", [401, 40], [8, 18]),
    pipeline: LION_V2,
    parallelism: 3,
    secondsPerPage: 6,
    submitted: { work: 7 * 60 + 3 },
    troubles: {
      3: { kind: "transient", page: 5, attempts: 1 },
      5: NOT_FOUND,
      14: { kind: "evicted", page: 4 },
      22: { kind: "verify", pages: [2, 7] },
      31: { kind: "memory", page: 6 },
    },
    imagesEvery: 11,
  },
  {
    ...USUAL,
    name: "kyrkobocker-vaxjo-1755",
    series: series("Kyrkoböcker, Växjö 1755", "SE-VALA-00418-1755-", [7, 8], [6, 14]),
    pipeline: CHURCH_BOOKS,
    submitted: { work: 40 },
  },
  {
    ...USUAL,
    name: "landsarkivet-lund-1812",
    series: series("Landsarkivet i Lund 1812", "SE-LLA-1812-C3-", [21, 24], [6, 12]),
    pipeline: LION_V2,
    submitted: { work: 20 },
    troubles: { 9: { kind: "transient", page: 2, attempts: 1 } },
  },
];

/** How long the Job of an ended campaign stays at normal speed, in seconds. */
const TTL_SECONDS = 2100;
/** It stays at least this long, however fast campaigns follow each other. */
const LEAST_TTL_SECONDS = 300;

const PIPELINES = [LION_V2, LION_V1, CHURCH_BOOKS, COURT_RECORDS];

/** Each n-th campaign has no trouble, so that the list always shows succeeded ones. */
const CLEAN_EVERY = 3;
/** Each n-th campaign belongs to the pipeline whose warm-up fails: all of it fails. */
const FAILED_EVERY = 16;

/**
 * The campaign that is submitted as the `number`-th after those of the first start. It follows from the seed and its
 * number alone: a year of a series of the archive, some with troubles. Consecutive campaigns are of different series, and a
 * series comes back with another year.
 *
 * @param number from 0
 * @param speed seconds of work in one second
 */
export function furtherCampaign(seed: number, number: number, speed: number): SampleCampaign {
  const random = seededRandom("campaign", seed, number);
  const series = seriesOf(seed, number);
  const year = yearOf(seed, series, Math.floor(number / CATALOGUE.length));
  const isFailed = number % FAILED_EVERY === FAILED_EVERY - 1;
  const isClean = !isFailed && number % CLEAN_EVERY === 0;
  const count = isFailed ? 4 : between(random, 10, 22);
  const volumes = volumesOf({ seed, series, year, count, random, isClean });
  return {
    ...USUAL,
    name: `${series.slug}-${year}`,
    pipeline: isFailed ? MAPS : pick(random, PIPELINES),
    parallelism: isFailed ? count : 2,
    secondsPerPage: between(random, 7, 11),
    lostPages: isClean ? 0 : USUAL.lostPages,
    submitted: { work: 0 },
    ttlSeconds: Math.max(LEAST_TTL_SECONDS, Math.round(TTL_SECONDS / speed)),
    failuresRecorded: true,
    volumes: isClean || isFailed ? volumes : troubled(volumes, random),
  };
}

/** Every series once, in an order of the seed, before any of them comes again. */
function seriesOf(seed: number, number: number): ArchiveSeries {
  const round = Math.floor(number / CATALOGUE.length);
  const order = CATALOGUE.map((series) => ({ series, rank: seededRandom("series", seed, round, series.code)() }))
    .sort((a, b) => a.rank - b.rank);
  return order[number % CATALOGUE.length].series;
}

/** Years lie this far apart from round to round; a prime, so that all years of a series come before one comes again. */
const YEAR_STEP = 37;

function yearOf(seed: number, { code, years: [from, to] }: ArchiveSeries, round: number): number {
  const span = to - from + 1;
  return from + (between(seededRandom("year", seed, code), 0, span - 1) + round * YEAR_STEP) % span;
}

/** Volumes with consecutive numbers; a clean campaign leaves out those that the archive does not have. */
function volumesOf({ seed, series, year, count, random, isClean }: {
  readonly seed: number;
  readonly series: ArchiveSeries;
  readonly year: number;
  readonly count: number;
  readonly random: () => number;
  readonly isClean: boolean;
}): SampleVolume[] {
  const volumes: SampleVolume[] = [];
  const imagesEvery = random() < 0.3 ? between(random, 5, 9) : Infinity;
  for (let number = between(random, 1, VOLUMES_OF_A_YEAR - 3 * count); volumes.length < count; number++) {
    const id = catalogueId(series, year, number);
    const volume = catalogueVolume(seed, id);
    if (volume === null && isClean) continue;
    const found = volume ?? { id, title: id, pages: 0, presentation: 3 as const };
    const byImages = volume !== null && number % imagesEvery === 0;
    const scanOf = (page: number) => ({ volume: id, page });
    volumes.push({ ...found, byImages, trouble: volume === null ? NOT_FOUND : null, scanOf });
  }
  return volumes;
}

/** Gives troubles to some volumes. One of the first always fails, so that each of these campaigns fails in part. */
function troubled(volumes: readonly SampleVolume[], random: () => number): SampleVolume[] {
  const failing = between(random, 0, 2);
  return volumes.map((volume, index) => {
    if (volume.trouble !== null) return volume;
    const page = between(random, 2, volume.pages - 1);
    if (index === failing) return { ...volume, trouble: pick(random, LASTING)(page) };
    return random() < 0.12 ? { ...volume, trouble: pick(random, PASSING)(page) } : volume;
  });
}

/** Troubles of every attempt. */
const LASTING: readonly ((page: number) => Trouble)[] = [
  (page) => ({ kind: "verify", pages: [page] }),
  (page) => ({ kind: "memory", page }),
];
/** Troubles that a retry repairs. */
const PASSING: readonly ((page: number) => Trouble)[] = [
  (page) => ({ kind: "transient", page, attempts: 1 }),
  (page) => ({ kind: "transient", page, attempts: 2 }),
  (page) => ({ kind: "evicted", page }),
];
