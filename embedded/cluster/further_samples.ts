import {
  type ArchiveSeries,
  CATALOGUE,
  catalogueId,
  catalogueVolume,
  VOLUMES_OF_A_YEAR,
} from "@/embedded/archive/catalogue.ts";
import { between, pick, seededRandom } from "@/embedded/archive/seeded_random.ts";
import { CHURCH_BOOKS, COURT_RECORDS, LION_V1, LION_V2, MAPS } from "./pipelines.ts";
import { NOT_FOUND, type SampleCampaign, type SampleVolume, type Trouble } from "./samples.ts";

/** How long the Job of an ended campaign stays at normal speed, in seconds. */
const TTL_SECONDS = 2100;
/** It stays at least this long, however fast campaigns follow each other. */
const LEAST_TTL_SECONDS = 300;

const PIPELINES = [LION_V2, LION_V1, CHURCH_BOOKS, COURT_RECORDS];

/** Each n-th campaign has no trouble at all: succeeded ones are always to be seen. */
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
  const volumes = volumesOf(seed, series, year, count, random, isClean);
  return {
    name: `${series.slug}-${year}`,
    pipeline: isFailed ? MAPS : pick(random, PIPELINES),
    parallelism: isFailed ? count : 2,
    secondsPerPage: between(random, 7, 11),
    lostPages: isClean ? 0 : 0.012,
    deadlineSeconds: 21_600,
    submitted: { work: 0 },
    pausedAfter: null,
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
function volumesOf(
  seed: number,
  series: ArchiveSeries,
  year: number,
  count: number,
  random: () => number,
  isClean: boolean,
): SampleVolume[] {
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
