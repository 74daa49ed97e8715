import { type CampaignSource, STALE_MS } from "./campaign_source.ts";
import type { StreamingConnection } from "./connection.ts";
import { listedCampaigns, type ListedCampaignsOptions } from "./listed_campaigns.ts";
import { clusterReachable } from "./reachable.ts";
import { watchedCampaigns, type WatchedCampaignsOptions, type WatchLimits } from "./watched_campaigns.ts";

/** How the cluster is read: followed, listed whenever somebody asks, or followed where the account may. */
export type ClusterReads = "auto" | "watch" | "list";

export interface ChosenCampaignsOptions extends ListedCampaignsOptions {
  readonly connection: StreamingConnection;
  /** 0 up to 1. */
  readonly random: WatchedCampaignsOptions["random"];
  readonly reads: ClusterReads;
  /** Told, once, when the account may not watch and the cluster is listed instead. */
  readonly watchRefused: () => void;
  readonly limits?: Partial<WatchLimits>;
}

/** A source, and whether what it hands out can be relied on. */
export interface ChosenCampaigns {
  readonly source: CampaignSource;
  /** Whether the cluster answers and what is known of it is current, for readiness. Never throws. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

/** The campaigns of a cluster in the way that was asked for or is possible. Following begins at once. */
export function chosenCampaigns(options: ChosenCampaignsOptions): ChosenCampaigns {
  const { connection, reads } = options;
  const reachable = () => clusterReachable(connection);
  if (reads === "list") {
    return { source: listedCampaigns(options), ready: reachable, close: () => Promise.resolve() };
  }
  const watched = watchedCampaigns(options);
  const following = () => Promise.resolve(isCurrent(watched));
  if (reads === "watch") return { source: watched, ready: following, close: () => watched.close() };

  let chosen: CampaignSource = watched;
  let ready = following;
  watched.forbidden.then(async () => {
    chosen = listedCampaigns(options);
    ready = reachable;
    options.watchRefused();
    await watched.close();
  });
  // A watch is refused only after the first list, so whoever waits for that may have to ask again.
  const ask = async <T>(question: (source: CampaignSource) => Promise<T>): Promise<T> => {
    const asked = chosen;
    try {
      return await question(asked);
    } catch (error) {
      if (asked === chosen) throw error;
      return await question(chosen);
    }
  };
  return {
    source: {
      list: () => ask((source) => source.list()),
      campaign: (namespace, name) => ask((source) => source.campaign(namespace, name)),
      pods: (namespace, job) => ask((source) => source.pods(namespace, job)),
      age: () => chosen.age(),
    },
    ready: () => ready(),
    close: () => watched.close(),
  };
}

function isCurrent(source: CampaignSource): boolean {
  const age = source.age();
  return age !== null && age <= STALE_MS;
}
