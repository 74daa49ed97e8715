import { type BatchJob, keyOf } from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, labelNames, POD_JOB_LABEL, selectors } from "@/lib/campaigns/projection/conventions.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { type Collection, configMapsPath, jobsPath, podsPath, selection } from "@/lib/kubernetes/cluster_reads.ts";
import { clusterReachable, ClusterUnavailable, type StreamingConnection } from "@/lib/kubernetes/connection.ts";
import { watchOnce } from "@/lib/kubernetes/watch.ts";
import { sleep } from "@/lib/std/timing.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type CampaignSource, type CampaignSourceOptions, STALE_MS } from "./campaign_source.ts";
import { listedCampaigns } from "./listed_campaigns.ts";
import { WatchedCampaigns, type WatchedCampaignsOptions, type WatchLimits } from "./watched_campaigns.ts";

interface ChosenCampaignsOptions extends CampaignSourceOptions {
  readonly connection: StreamingConnection;
  /** 0 up to 1. */
  readonly random: WatchedCampaignsOptions["random"];
  /** Called when the account may not watch and the cluster is listed instead. */
  readonly watchRefused: () => void;
  /** Called when a forbidden watch is allowed later, and the cluster is watched from then on. */
  readonly watchAllowed: () => void;
  readonly limits?: Partial<WatchLimits>;
  /** Until a forbidden watch is tried again, ms; {@link WATCH_AGAIN_MS} when absent. */
  readonly watchAgainMs?: number;
}

/** Permissions change rarely, and a trial costs a few calls. */
const WATCH_AGAIN_MS = 300_000;

/** The campaigns of a cluster: watched at once, and listed while the account may not watch. */
export class ChosenCampaigns {
  readonly source: CampaignSource;
  readonly #options: ChosenCampaignsOptions;
  readonly #stop = new AbortController();
  readonly #stopped = Promise.withResolvers<boolean>();
  readonly #running: Promise<void>;
  #watched: WatchedCampaigns;
  #chosen: CampaignSource;

  constructor(options: ChosenCampaignsOptions) {
    this.#options = options;
    this.#watched = new WatchedCampaigns(options);
    this.#chosen = this.#watched;
    this.source = {
      list: () => this.#withSource((source) => source.list()),
      campaign: (namespace, name) => this.#withSource((source) => source.campaign(namespace, name)),
      pods: (namespace, job) => this.#withSource((source) => source.pods(namespace, job)),
      age: () => this.#chosen.age(),
      lastKnown: () => this.#chosen.lastKnown(),
    };
    this.#running = this.#alternate();
  }

  /** Whether the cluster responds and the data is current, for the readiness probe. Never throws. */
  async ready(): Promise<boolean> {
    if (!this.#isFollowed()) return await clusterReachable(this.#options.connection);
    const age = this.#watched.age();
    return age !== null && age <= STALE_MS;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#stopped.resolve(false);
    await this.#running;
  }

  #isFollowed(): boolean {
    return this.#chosen === this.#watched;
  }

  async #alternate(): Promise<void> {
    const { signal } = this.#stop;
    const stopped = this.#stopped.promise;
    while (!signal.aborted) {
      await Promise.race([this.#watched.forbidden, stopped]);
      if (!signal.aborted && this.#isFollowed()) {
        this.#chosen = listedCampaigns(this.#options);
        this.#options.watchRefused();
      }
      await this.#watched.close();
      await this.#untilAllowed();
      if (signal.aborted) return;
      this.#watched = new WatchedCampaigns(this.#options);
      const { listed, forbidden } = this.#watched;
      // Lists serve requests until all watched collections are loaded.
      if (await Promise.race([listed.then(() => true), forbidden.then(() => false), stopped])) {
        this.#chosen = this.#watched;
        this.#options.watchAllowed();
      }
    }
    await this.#watched.close();
  }

  async #untilAllowed(): Promise<void> {
    const { signal } = this.#stop;
    const { watchAgainMs = WATCH_AGAIN_MS } = this.#options;
    do await sleep(watchAgainMs, signal); while (!signal.aborted && !(await mayWatch(this.#options, signal)));
  }

  /** A watch is forbidden only after the first list, so a pending call is repeated with the new source. */
  async #withSource<T>(call: (source: CampaignSource) => Promise<T>): Promise<T> {
    const source = this.#chosen;
    try {
      return await call(source);
    } catch (error) {
      if (source === this.#chosen) throw error;
      return await call(this.#chosen);
    }
  }
}

/** The shortest duration of a watch. */
const TRIAL_SECONDS = 1;
/** Idle timeout of the connection beyond that, ms. */
const IDLE_MS = 3_000;

/**
 * Whether the account may watch all campaign objects, found out by short watches: an access review need not show rules
 * from outside of the cluster. False when the cluster does not respond. Never throws for a response of the server.
 */
async function mayWatch(
  { connection, conventions, namespaces }: ChosenCampaignsOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { campaignJobs, records } = selectors(conventions);
  for (const namespace of namespaces) {
    const collections: readonly Collection[] = [
      { path: jobsPath(namespace), labelSelector: campaignJobs },
      { path: podsPath(namespace), labelSelector: POD_JOB_LABEL },
      { path: configMapsPath(namespace), labelSelector: records, metadataOnly: true },
    ];
    for (const collection of collections) {
      const position = await positionOf(connection, collection, signal);
      if (position === null) return false;
      const request = { collection, position, seconds: TRIAL_SECONDS, idleMs: IDLE_MS, signal };
      if (await watchOnce(connection, request, { change() {}, position() {} }) !== "ended") return false;
    }
  }
  return true;
}

/** The resource version to watch from, because a watch without one begins with all objects. Null: unknown. */
async function positionOf(
  connection: StreamingConnection,
  collection: Collection,
  signal: AbortSignal,
): Promise<string | null> {
  const { path } = collection;
  const query = new URLSearchParams([["limit", "1"], ...selection(collection)]);
  try {
    const { status, body } = await connection.send({ method: "GET", path, query, signal });
    return status === 200 ? stringAt(parsedJson(body), "metadata", "resourceVersion") : null;
  } catch (error) {
    if (error instanceof ClusterUnavailable) return null;
    throw error;
  }
}

/** Jobs that a process reports; further ones are not reported, so that memory and log stay bounded. */
export const MAX_REPORTED_JOBS = 1000;

/** Logs once for each Job why it is not listed: it has every label of a campaign or a warm-up but `managed-by`. */
export function unlistedJobs(log: RequestLog, conventions: Conventions): (job: BatchJob) => void {
  const reported = new Set<string>();
  const label = `${labelNames(conventions).managedBy}=${conventions.managedBy}`;
  return ({ namespace, name, uid }) => {
    const job = keyOf(namespace, name);
    const id = `${job} ${uid}`;
    if (reported.has(id) || reported.size >= MAX_REPORTED_JOBS) return;
    reported.add(id);
    log.write({ level: "warn", unlisted_job: job, error: `the label ${label} is missing` });
  };
}
