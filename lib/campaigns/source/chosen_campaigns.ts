import { clusterReachable, type StreamingConnection } from "@/lib/kubernetes/connection.ts";
import { sleep } from "@/lib/std/timing.ts";
import { type CampaignSource, STALE_MS } from "./campaign_source.ts";
import { listedCampaigns, type ListedCampaignsOptions } from "./listed_campaigns.ts";
import { mayWatch } from "./may_watch.ts";
import {
  type WatchedCampaigns,
  watchedCampaigns,
  type WatchedCampaignsOptions,
  type WatchLimits,
} from "./watched_campaigns.ts";

interface ChosenCampaignsOptions extends ListedCampaignsOptions {
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
    this.#watched = watchedCampaigns(options);
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
    return this.#isFollowed() ? isCurrent(this.#watched) : await clusterReachable(this.#options.connection);
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
      this.#watched = watchedCampaigns(this.#options);
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
    do await sleep(watchAgainMs, signal); while (!signal.aborted && !(await mayWatch({ ...this.#options, signal })));
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

function isCurrent(source: CampaignSource): boolean {
  const age = source.age();
  return age !== null && age <= STALE_MS;
}
