import { drawnAlto, drawnPage } from "@/embedded/archive/drawn_pages.ts";
import { pageImageUrl, sourceManifestUrl } from "@/embedded/archive/source_volumes.ts";
import type { Campaign, CampaignVolume } from "./samples.ts";
import type { Attempt, End, Stage, WorkEvent } from "./timeline.ts";

/** One attempt of a worker at one volume: all that its files follow from. */
export interface VolumeRun {
  readonly seed: number;
  readonly namespace: string;
  readonly campaign: Campaign;
  readonly volume: CampaignVolume;
  readonly attempt: Attempt;
  readonly timeline: readonly WorkEvent[];
  /** When the worker started, in milliseconds, and how many seconds of work it does in one. */
  readonly startedAt: number;
  readonly speed: number;
  readonly archiveUrl: string;
  readonly resultsUrl: string;
}

/** A page that the worker has finished with. */
interface FinishedPage {
  readonly page: number;
  readonly seconds: number;
  readonly error: string | null;
  /** Left in the bucket by an earlier attempt. */
  readonly kept: boolean;
}

/** Where a worker stands. */
export interface RunState {
  readonly stage: Stage;
  readonly pages: readonly FinishedPage[];
  /** How many events of the timeline have happened. */
  readonly events: number;
  readonly end: End | null;
}

/** Where a run stands after some seconds of work. */
export function runState(run: VolumeRun, elapsed: number): RunState {
  let stage: Stage = "setup";
  let end: End | null = null;
  let events = 0;
  const pages: FinishedPage[] = [];
  for (const event of run.timeline) {
    if (event.at > elapsed) break;
    events++;
    if (event.kind === "stage") {
      stage = event.stage;
      if (stage === "resume") pages.push(...keptPages(run));
    } else if (event.kind === "page") {
      pages.push({ page: event.page, seconds: event.seconds, error: event.error, kept: false });
    } else {
      end = event.end;
    }
  }
  return { stage, pages, events, end };
}

/** The instant of a moment of work, in milliseconds. */
export function instantOf(run: VolumeRun, at: number): number {
  return run.startedAt + at * 1000 / run.speed;
}

/** The image that the worker reads as a page of the volume. */
export function scanUrl({ archiveUrl, volume }: VolumeRun, page: number): string {
  const scan = volume.scanOf(page);
  return pageImageUrl(archiveUrl, scan.volume, scan.page);
}

/** The manifest from which the worker knows the pages; null for a volume that is listed by its images. */
export function manifestUrl({ archiveUrl, volume }: VolumeRun): string | null {
  return volume.byImages ? null : sourceManifestUrl(archiveUrl, volume.scanOf(1).volume);
}

/** The ALTO file of the drawn page that a page of the volume shows. */
export function altoOf({ volume }: VolumeRun, page: number): string {
  return drawnAlto(numberOf(volume, page));
}

/** By the number of a drawn page: logs are written again and again. */
const lineCounts = new Map<number, number>();

/** The number of lines on a page. */
export function lineCountOf({ volume }: VolumeRun, page: number): number {
  const number = numberOf(volume, page);
  const count = lineCounts.get(number) ?? drawnAlto(number).split("<TextLine ").length - 1;
  lineCounts.set(number, count);
  return count;
}

function numberOf(volume: CampaignVolume, page: number): number {
  const scan = volume.scanOf(page);
  return drawnPage(scan.volume, scan.page);
}

function keptPages(run: VolumeRun): FinishedPage[] {
  return [...run.attempt.kept].map((page) => ({ page, seconds: 0, error: null, kept: true }));
}
