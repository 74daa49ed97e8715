import { pageName } from "@/embedded/archive/catalogue.ts";
import { sourceManifest } from "@/embedded/archive/source_manifest.ts";
import {
  campaignConfigMap,
  campaignJob,
  labelKeys,
  pipelineConfigMap,
  type Submission,
  warmupJob,
} from "./campaign_objects.ts";
import { RESOURCES } from "./discovery.ts";
import { admitWaiting, suspendJob, wasAdmitted } from "./job_controller.ts";
import type { JsonObject } from "./json_body.ts";
import {
  condition,
  type ConfigMap,
  endedAt,
  type Job,
  type KubeObject,
  readIndexes,
  timestamp,
} from "./kube_objects.ts";
import type { ConfigMapContent } from "./object_body.ts";
import type { Outbox } from "./outbox.ts";
import { syntheticManifestKey, volumeKeys } from "./result_files.ts";
import { furtherCampaign, type SampleCampaign, sampleCampaigns } from "./sample_campaigns.ts";
import type { ClusterStore } from "./store.ts";
import { isCampaignJob, volumesText } from "./submitted_campaign.ts";
import { applyByForce, createObject } from "./writes.ts";

/** A campaign whose warm-up failed so long ago is held: the queue gives its turn to the next. Seconds of work. */
const HELD_SECONDS = 15 * 60;
/** Sample campaigns whose Job is gone and that are still listed; the oldest are removed with their files. */
const MAX_REAPED_CAMPAIGNS = 12;
/** How long a sample stays paused, in seconds, before its owner resumes it and pauses another. */
const PAUSE_SECONDS = 48 * 3600;

interface SampleWorldOptions extends Submission {
  readonly seed: number;
  readonly speed: number;
  readonly store: ClusterStore;
  readonly outbox: Outbox;
  /** Called for each volume whose files are removed. */
  readonly removed: (pipeline: string, volume: string) => void;
}

/** The state of the sample world that is stored, as plain JSON. */
export interface SampleWorldSnapshot {
  readonly next: number;
  readonly samples: readonly { readonly name: string; readonly number: number | null; readonly uid: string }[];
  readonly reaped: readonly string[];
}

/** A sample campaign that was submitted. */
interface Sample {
  readonly campaign: SampleCampaign;
  /** Its number among the further campaigns; null for one of the first start. */
  readonly number: number | null;
  /** The uid of its Job: one of the same name that a client submits is another. */
  readonly uid: string;
}

/**
 * Those who submit the sample campaigns: while the cluster runs, a further one waits whenever the queue has admitted the
 * one before, one is paused, and old ones are removed. Campaigns that clients submit are left alone.
 */
export class SampleWorld {
  /** Keyed by Job name, in the order of submission. */
  readonly #samples = new Map<string, Sample>();
  /** The names of those whose Job is gone, in the order of its going. */
  readonly #reaped = new Set<string>();
  #next = 0;

  constructor(private readonly options: SampleWorldOptions) {}

  /** The sample of a Job; undefined for a Job that a client submitted. */
  campaignOf(name: string, jobUid: string): SampleCampaign | undefined {
    const sample = this.#samples.get(name);
    return sample?.uid === jobUid ? sample.campaign : undefined;
  }

  submit(campaign: SampleCampaign, number: number | null = null): void {
    const { store, namespace, outbox, archiveUrl } = this.options;
    const { pipeline } = campaign;
    if (!store.get("jobs", namespace, `warmup-${pipeline.id}`)) {
      this.#apply(pipelineConfigMap(pipeline, this.options));
      this.#create(warmupJob(pipeline, this.options));
    }
    const job = this.#create(campaignJob(campaign, this.options));
    this.#apply(campaignConfigMap(campaign, this.options, job.metadata.uid, timestamp(store.now())));
    this.#samples.set(campaign.name, { campaign, number, uid: job.metadata.uid });
    for (const volume of campaign.volumes.filter((candidate) => candidate.byImages)) {
      const key = syntheticManifestKey(namespace, pipeline.id, volume.id);
      const body = () => new TextEncoder().encode(JSON.stringify(sourceManifest(archiveUrl, volume)));
      outbox.push({ key, contentType: "application/json", body }, "rest");
    }
  }

  /** Submits, pauses, resumes and removes what is due. */
  advance(): void {
    const jobs = this.#jobs();
    this.#pauseOne(jobs);
    if (!jobs.some((job) => !wasAdmitted(job))) this.#submitNext();
    this.#removeOld();
  }

  /** The queue of the samples. */
  admit(): void {
    admitWaiting(this.options.store, this.#jobs(), (job) => this.#isHeld(job));
  }

  #isHeld(job: Job): boolean {
    const { store, namespace, speed } = this.options;
    const pipeline = this.#samples.get(job.metadata.name)?.campaign.pipeline.id;
    const warmup = store.get("jobs", namespace, `warmup-${pipeline}`);
    const failedAt = Date.parse((warmup && condition(warmup, "Failed"))?.lastTransitionTime ?? "");
    return (store.now() - failedAt) / 1000 * speed >= HELD_SECONDS;
  }

  snapshot(): SampleWorldSnapshot {
    const samples = [...this.#samples].map(([name, { number, uid }]) => ({ name, number, uid }));
    return { next: this.#next, samples, reaped: [...this.#reaped] };
  }

  restore({ next, samples, reaped }: SampleWorldSnapshot): void {
    const { seed, speed } = this.options;
    const first = new Map(sampleCampaigns(seed).map((campaign) => [campaign.name, campaign]));
    this.#next = next;
    this.#samples.clear();
    this.#reaped.clear();
    for (const { name, number, uid } of samples) {
      const campaign = number === null ? first.get(name) : furtherCampaign(seed, number, speed);
      if (campaign) this.#samples.set(name, { campaign, number, uid });
    }
    for (const name of reaped) this.#reaped.add(name);
  }

  /** The samples' Jobs that have not ended. */
  #jobs(): Job[] {
    const { store, namespace } = this.options;
    return [...this.#samples].flatMap(([name, { uid }]) => {
      const job = store.get("jobs", namespace, name);
      return job?.metadata.uid === uid && endedAt(job) === null ? [job] : [];
    });
  }

  #submitNext(): void {
    const { seed, speed, store, namespace } = this.options;
    const number = this.#next++;
    const campaign = furtherCampaign(seed, number, speed);
    // A name in use is skipped: its turn comes with the next tick.
    const isUsed = this.#samples.has(campaign.name) || store.get("jobs", namespace, campaign.name) ||
      store.get("configmaps", namespace, `campaign-${campaign.name}`);
    if (!isUsed) this.submit(campaign, number);
  }

  /** One sample is always paused: the one that has run longest, until its time is over. */
  #pauseOne(jobs: readonly Job[]): void {
    const paused = jobs.filter((job) => job.spec.suspend && wasAdmitted(job));
    const now = this.options.store.now();
    for (const job of paused) {
      const since = Date.parse(condition(job, "Suspended")?.lastTransitionTime ?? "");
      if (now - since >= PAUSE_SECONDS * 1000) suspendJob(this.options.store, job, false);
    }
    if (paused.length > 0) return;
    const [oldest] = jobs.filter((job) => !job.spec.suspend && isHalfDone(job))
      .sort((a, b) => Date.parse(a.status.startTime ?? "") - Date.parse(b.status.startTime ?? ""));
    if (oldest) suspendJob(this.options.store, oldest, true);
  }

  #removeOld(): void {
    const { store, namespace } = this.options;
    for (const [name, { uid }] of this.#samples) {
      const job = store.get("jobs", namespace, name);
      if (!job) this.#reaped.add(name);
      // A client took the name, and with it the ConfigMaps.
      else if (job.metadata.uid !== uid) this.#forget(name);
    }
    for (const name of [...this.#reaped].slice(0, Math.max(0, this.#reaped.size - MAX_REAPED_CAMPAIGNS))) {
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    const { store, namespace, outbox, removed } = this.options;
    const sample = this.#samples.get(name);
    this.#forget(name);
    if (!sample) return;
    store.delete("configmaps", namespace, `campaign-${name}-status`);
    store.delete("configmaps", namespace, `campaign-${name}`);
    const { pipeline, volumes } = sample.campaign;
    const shared = this.#idsOfOthers(pipeline.id);
    for (const { id, pages } of volumes.filter((volume) => !shared.has(volume.id))) {
      const names = Array.from({ length: pages }, (_, index) => pageName(index + 1));
      removed(pipeline.id, id);
      outbox.remove([
        ...volumeKeys(namespace, pipeline.id, id, names),
        syntheticManifestKey(namespace, pipeline.id, id),
      ]);
    }
  }

  /**
   * The volumes of a pipeline that other campaigns name, whose results they share. A campaign's pipeline is that of its
   * Job, whose ConfigMap needs no label; the ConfigMap's label counts once the Job is gone.
   */
  #idsOfOthers(pipeline: string): ReadonlySet<string> {
    const { store, namespace, conventions } = this.options;
    const key = labelKeys(conventions).pipeline;
    const isOther = ({ metadata }: ConfigMap | Job) =>
      metadata.namespace === namespace && metadata.labels?.[key] === pipeline;
    const texts = [
      ...[...store.all("configmaps")].filter(isOther).map(({ data }) => data?.["volumes.txt"] ?? ""),
      ...[...store.all("jobs")].filter((job) => isOther(job) && isCampaignJob(job, conventions))
        .map((job) => volumesText(store, job)),
    ];
    return new Set(texts.flatMap((text) => text.split("\n")).map((line) => line.split("\t")[0].trim()));
  }

  #forget(name: string): void {
    this.#samples.delete(name);
    this.#reaped.delete(name);
  }

  #create(job: JsonObject): KubeObject {
    const { store, namespace, conventions } = this.options;
    return createObject(store, { resource: RESOURCES.jobs, namespace, dryRun: false }, job, conventions);
  }

  #apply(map: ConfigMapContent): void {
    applyByForce(this.options.store, map, this.options.conventions.applyManager);
  }
}

function isHalfDone({ spec, status }: Job): boolean {
  const done = readIndexes(status.completedIndexes).size;
  return done >= spec.completions / 4 && done < spec.completions / 2;
}
