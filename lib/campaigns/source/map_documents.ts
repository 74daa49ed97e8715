import { identityOf } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { readStatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { NO_PIPELINE, type Pipeline } from "@/lib/campaigns/projection/types.ts";
import { NO_VOLUMES, readVolumes, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { getConfigMap } from "@/lib/kubernetes/cluster_reads.ts";
import { CachedDocuments, SharedReads, type SizedDocument } from "@/lib/std/caches.ts";
import { isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import type { CampaignSourceOptions, PipelineRecord } from "./campaign_source.ts";

type MapDocumentsOptions = Pick<CampaignSourceOptions, "connection" | "conventions" | "now">;

/** Returns the resource version of a watched ConfigMap; undefined for another. */
interface Versions {
  version(name: string): string | undefined;
}

/** The key of a campaign's ConfigMap with its volumes. */
const VOLUMES_KEY = "volumes.txt";
/** How long the document of an unwatched map is reused, ms, and how many of them are cached. */
const UNFOLLOWED_MS = 2_000;
const MAX_UNFOLLOWED = 64;
/** Memory of an entry beside its text, bytes. */
const ENTRY_BYTES = 256;

/** The documents in ConfigMaps, read on demand and cached until their map changes. */
export class MapDocuments {
  readonly #options: MapDocumentsOptions;
  readonly #volumes: Kind<VolumeList>;
  readonly #pipelines: Kind<Pipeline>;
  readonly #failures: Kind<ReadonlyMap<string, string>>;

  /** @param budget of each kind, bytes */
  constructor(options: MapDocumentsOptions, budget: number) {
    this.#options = options;
    const { now, conventions } = options;
    this.#volumes = kind("volume_lists", budget, now, (map) => {
      const value = volumesOf(map);
      return { value, size: value.size + ENTRY_BYTES };
    });
    this.#pipelines = kind("pipelines", budget, now, (map) => {
      const value = readPipeline(map);
      return { value, size: sizeOfPipeline(value) };
    });
    this.#failures = kind("campaign_failures", budget, now, (map) => {
      const value = readStatusRecord(map, conventions)?.failures ?? new Map<string, string>();
      let size = ENTRY_BYTES;
      for (const [id, reason] of value) size += (id.length + reason.length) * 2 + ENTRY_BYTES;
      return { value, size };
    });
  }

  /** The volumes in a map; none without one. */
  async volumes(namespace: string, name: string | null, versions: Versions): Promise<VolumeList> {
    return name ? await this.#read(this.#volumes, namespace, name, versions) : NO_VOLUMES;
  }

  /** The pipeline in a map; none without one. */
  async pipeline(namespace: string, name: string | null, versions: Versions): Promise<Pipeline> {
    return name ? await this.#read(this.#pipelines, namespace, name, versions) : NO_PIPELINE;
  }

  /** The failures in a status record: reason by volume id. */
  failures(namespace: string, name: string, versions: Versions): Promise<ReadonlyMap<string, string>> {
    return this.#read(this.#failures, namespace, name, versions);
  }

  /** Caches a pipeline from a watch event of its map. */
  keepPipeline(namespace: string, name: string, version: string, value: Pipeline): void {
    this.#pipelines.cached.put(`${namespace}/${name}`, version, { value, size: sizeOfPipeline(value) });
  }

  async #read<T>(kind: Kind<T>, namespace: string, name: string, versions: Versions): Promise<T> {
    const key = `${namespace}/${name}`;
    const load = async () => kind.parse(await getConfigMap(this.#options.connection, namespace, name));
    const version = versions.version(name);
    return version ? await kind.cached.read(key, version, load) : (await kind.unfollowed.read(key, load)).value;
  }
}

type Kind<T> = ReturnType<typeof kind<T>>;

/** @param parse reads a map; null: it is gone */
function kind<T>(name: string, budget: number, now: () => number, parse: (map: unknown) => SizedDocument<T>) {
  return {
    cached: new CachedDocuments<T>(name, budget),
    unfollowed: new SharedReads<SizedDocument<T>>(UNFOLLOWED_MS, now, MAX_UNFOLLOWED),
    parse,
  };
}

function sizeOfPipeline({ yaml, steps }: Pipeline): number {
  return yaml.length * 2 + steps.length * ENTRY_BYTES + ENTRY_BYTES;
}

/** A status record without its failures: a list does not show them, and those of thousands of records are a gigabyte. */
export function withoutFailures(status: unknown): unknown {
  const data = member(status, "data");
  return { metadata: member(status, "metadata"), data: isObject(data) ? { ...data, failedVolumes: "[]" } : data };
}

/** The record of a pipeline's ConfigMap; null when its name is not that of one. */
export function pipelineRecord(
  configMap: unknown,
  { pipelinePrefix }: Conventions,
  scoresQuality: () => boolean,
): PipelineRecord | null {
  const identity = identityOf(configMap);
  if (!identity?.name.startsWith(pipelinePrefix)) return null;
  const { namespace, name } = identity;
  return { namespace, pipeline: name.slice(pipelinePrefix.length), scoresQuality: scoresQuality() };
}

/** The volumes of a campaign's ConfigMap; none when it is gone or has no list. */
export function volumesOf(configMap: unknown): VolumeList {
  const text = stringAt(configMap, "data", VOLUMES_KEY);
  return text === null ? NO_VOLUMES : readVolumes(text);
}
