import { between, seededRandom } from "@/embedded/archive/seeded_random.ts";
import type { SourceVolume } from "@/embedded/archive/source_volumes.ts";
import { CHURCH_BOOKS, LION_V1, LION_V2, MAPS, type Pipeline, type SamplePipeline } from "./pipelines.ts";

/** What goes wrong with a sample volume, and at which page (counted from 1) where pages matter. */
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

export interface SampleVolume extends CampaignVolume, SourceVolume {}

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
  return CAMPAIGNS.map(({ series, troubles, imagesEvery, ...campaign }) => {
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
        byImages: imagesEvery > 0 && index % imagesEvery === imagesEvery - 1,
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
  readonly troubles: Readonly<Record<number, Trouble | undefined>>;
  /** Each n-th volume is listed by its images; 0: none. */
  readonly imagesEvery: number;
}

const USUAL = {
  parallelism: 2,
  secondsPerPage: 5,
  deadlineSeconds: 21_600,
  lostPages: 0.012,
  pausedAfter: null,
  ttlSeconds: 7 * DAY,
  failuresRecorded: false,
  troubles: {},
  imagesEvery: 0,
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
