import { parse } from "yaml";
import type { VolumeFinder } from "@/embedded/archive/catalogue.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { type ClusterConventions, labelKeys } from "./campaign_objects.ts";
import type { ConfigMap, Job } from "./kube_objects.ts";
import {
  type Campaign,
  type CampaignVolume,
  NOT_FOUND,
  type Pipeline,
  samplePipelineOf,
  type Scan,
  type Trouble,
} from "./sample_campaigns.ts";
import type { ClusterStore } from "./store.ts";

/** The sources that workers of submitted campaigns can read. */
interface Sources {
  readonly conventions: ClusterConventions;
  /** Origin of the archive, without a trailing slash. */
  readonly archiveUrl: string;
  readonly findVolume: VolumeFinder;
}

/** Work per page, in seconds. */
const SECONDS_PER_PAGE = 4;
/** The longest steps document that is read, characters. */
const MAX_DOCUMENT_CHARACTERS = 65_536;
/** Limits the aliases of a YAML document, which multiply its content. */
const MAX_ALIASES = 20;
const MAX_IMAGES = 10_000;

/**
 * The campaigns of the Jobs that clients submitted. Each is read once for all pods of its Job, and again after a change of
 * the ConfigMaps: its list may have thousands of volumes.
 */
export class SubmittedCampaigns {
  /** Keyed by the uid of the Job. */
  readonly #read = new Map<string, { readonly version: string; readonly campaign: Campaign }>();

  constructor(private readonly store: ClusterStore, private readonly sources: Sources) {}

  /** The campaign of a Job; the same object until something that it is read from changes. */
  campaignOf(job: Job): Campaign {
    const { uid, labels } = job.metadata;
    const version = JSON.stringify([
      labels?.[labelKeys(this.sources.conventions).pipeline],
      ...["campaign", "pipeline"].map((volume) => mapOf(this.store, job, volume)?.metadata.resourceVersion),
    ]);
    const known = this.#read.get(uid);
    if (known?.version === version) return known.campaign;
    const campaign = submittedCampaign(this.store, job, this.sources);
    this.#read.set(uid, { version, campaign });
    return campaign;
  }

  /** Drops the campaigns of all Jobs but those with these uids. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of [...this.#read.keys()]) if (!uids.has(uid)) this.#read.delete(uid);
  }
}

/**
 * The campaign of a Job that a client submitted, by the Job's labels and its two ConfigMaps. What cannot be worked on, such
 * as a line with a source outside the archive, is a trouble of its volume: its pods fail with a sentence that says so.
 */
function submittedCampaign(store: ClusterStore, job: Job, sources: Sources): Campaign {
  const pipeline = pipelineOf(store, job, sources.conventions);
  const lines = volumesText(store, job).split("\n")
    .map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
  const volumes = Array.from({ length: job.spec.completions }, (_, index): CampaignVolume => {
    if (pipeline === null) return unusable("pipeline.yaml has no steps, or the Job no label of a pipeline");
    const line = lines[index];
    if (line === undefined) return unusable(`volumes.txt has no line for the index ${index}`);
    return volumeOf(line, sources);
  });
  return { pipeline: pipeline ?? NO_PIPELINE, secondsPerPage: SECONDS_PER_PAGE, lostPages: 0, volumes };
}

/** The volumes.txt that the pods of a campaign's Job mount; empty without one. */
export function volumesText(store: ClusterStore, job: Job): string {
  return dataOf(store, job, "campaign", "volumes.txt") ?? "";
}

/** The names of the ConfigMaps that the pods of a Job mount and that do not exist. */
export function missingMaps(store: ClusterStore, job: Job): string[] {
  const names = (job.spec.template.spec.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
  return names.filter((name) => !store.get("configmaps", job.metadata.namespace ?? "", name));
}

/** Whether a Job is that of a campaign, by its labels. */
export function isCampaignJob({ metadata }: Labelled, conventions: ClusterConventions): boolean {
  return metadata.labels?.app === conventions.campaignApp &&
    metadata.labels[labelKeys(conventions).managedBy] === conventions.managedBy;
}

/** Whether a Job is that of a warm-up, by its labels. */
export function isWarmupJob(job: Labelled, conventions: ClusterConventions): boolean {
  return isCampaignJob(job, { ...conventions, campaignApp: conventions.warmupApp });
}

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

function dataOf(store: ClusterStore, job: Job, volume: string, key: string): string | undefined {
  return mapOf(store, job, volume)?.data?.[key];
}

/** The ConfigMap that the pods of a Job mount as one of their volumes. */
function mapOf(store: ClusterStore, job: Job, volume: string): ConfigMap | undefined {
  const name = job.spec.template.spec.volumes?.find((candidate) => candidate.name === volume)?.configMap?.name;
  return name === undefined ? undefined : store.get("configmaps", job.metadata.namespace ?? "", name);
}

const NO_PIPELINE: Pipeline = { id: "", document: "", model: "", revision: null, scoresQuality: false };

/** null for a Job without a pipeline that can be read. */
function pipelineOf(store: ClusterStore, job: Job, conventions: ClusterConventions): Pipeline | null {
  const id = job.metadata.labels?.[labelKeys(conventions).pipeline];
  const document = dataOf(store, job, "pipeline", "pipeline.yaml");
  if (!id || document === undefined || document.length > MAX_DOCUMENT_CHARACTERS) return null;
  const sample = samplePipelineOf(id);
  if (sample?.document === document) return sample;
  const steps = stepsOf(document);
  if (steps.length === 0) return null;
  const recognition = steps.find((step) => stringAt(step, "step") === "TextRecognition");
  const settings = ["settings", "model_settings"] as const;
  return {
    id,
    document,
    model: stringAt(recognition, ...settings, "model") ?? "unknown",
    revision: stringAt(recognition, ...settings, "revision") ??
      stringAt(recognition, ...settings, "model_kwargs", "revision") ?? null,
    scoresQuality: steps.some((step) => stringAt(step, "step")?.toLowerCase() === "qualityprediction"),
  };
}

function stepsOf(document: string): readonly unknown[] {
  try {
    return entries(member(parse(document, { maxAliasCount: MAX_ALIASES }), "steps"));
  } catch {
    return [];
  }
}

/** The volume of a line of volumes.txt: `<id> TAB <manifest URL>`, or `<id> TAB images:<URLs>`. */
function volumeOf(line: string, sources: Sources): CampaignVolume {
  const tab = line.indexOf("\t");
  const id = tab < 0 ? line : line.slice(0, tab);
  const source = tab < 0 ? "" : line.slice(tab + 1).trim();
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(id)) {
    return unusable(
      "volumes.txt: an id has up to 63 letters, digits, '.', '_' and '-', and a letter or digit at both ends",
    );
  }
  if (source.startsWith("images:")) return volumeOfImages(id, source.slice("images:".length), sources);
  const unreadable = (trouble: Trouble) => ({ ...unusable(""), id, trouble });
  const [collection, name = "", file] = archivePath(source, sources);
  if (collection !== "iiif" || file !== "manifest.json") {
    return unreadable({ kind: "manifest", error: "manifest unreadable: it is not in the embedded archive" });
  }
  const volume = sources.findVolume(name);
  if (volume === null) return unreadable(NOT_FOUND);
  if (volume.sample === "not-a-manifest") {
    return unreadable({ kind: "manifest", error: "manifest unreadable: the document is not a IIIF manifest" });
  }
  const scanOf = (page: number) => ({ volume: name, page });
  return { id, title: volume.title, pages: volume.pages, byImages: false, trouble: null, scanOf };
}

function volumeOfImages(id: string, list: string, sources: Sources): CampaignVolume {
  const urls = list.split(/\s+/).filter((url) => url !== "").slice(0, MAX_IMAGES);
  const scans = urls.map((url) => scanOfImage(url, sources)).filter((scan) => scan !== null);
  if (scans.length < urls.length || urls.length === 0) {
    const error = "image unreadable: it is not in the embedded archive";
    return { ...unusable(""), id, trouble: { kind: "manifest", error } };
  }
  return { id, title: id, pages: scans.length, byImages: true, trouble: null, scanOf: (page) => scans[page - 1] };
}

function scanOfImage(url: string, sources: Sources): Scan | null {
  const [collection, volume = "", file = "", ...rest] = archivePath(url, sources);
  const pages = collection === "image" && rest.length === 0 ? sources.findVolume(volume)?.pages ?? 0 : 0;
  const page = Number(/^(\d{4})\.png$/.exec(file)?.[1]);
  return page >= 1 && page <= pages ? { volume, page } : null;
}

/** The decoded segments of a URL's path in the archive; none for another URL. */
function archivePath(url: string, { archiveUrl }: Sources): string[] {
  if (!url.startsWith(`${archiveUrl}/`)) return [];
  return url.slice(archiveUrl.length + 1).split("/").map((segment) => percentDecoded(segment) ?? "");
}

/** A volume whose pods fail before they read anything. */
function unusable(error: string): CampaignVolume {
  const scanOf = (page: number) => ({ volume: "", page });
  return { id: "", title: "", pages: 0, byImages: false, trouble: { kind: "config", error }, scanOf };
}
