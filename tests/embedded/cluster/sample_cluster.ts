import type { ClusterConventions } from "@/embedded/cluster/campaign_objects.ts";
import type { EmbeddedClusterOptions } from "@/embedded/cluster/server.ts";

/** The instant at which the sample clusters of the tests start. */
export const START = Date.parse("2026-11-21T12:00:00Z");

export const CONVENTIONS: ClusterConventions = {
  labelDomain: "campaigns.example.org/",
  campaignApp: "campaign-batch",
  warmupApp: "campaign-warmup",
  managedBy: "converter",
  pipelinePrefix: "pipeline-",
  failuresManager: "web-failures",
  applyManager: "campaigns",
};

/** A writer that stores files in memory, in the order of first writing. */
export function memoryWriter() {
  const files = new Map<string, { body: Uint8Array; contentType: string }>();
  const put = (key: string, body: Uint8Array, contentType: string) => {
    files.set(key, { body, contentType });
    return Promise.resolve();
  };
  const remove = (keys: readonly string[]) => {
    for (const key of keys) files.delete(key);
    return Promise.resolve();
  };
  const text = (key: string) => new TextDecoder().decode(files.get(key)?.body);
  return { files, put, remove, text, json: (key: string) => JSON.parse(text(key)) };
}

export function sampleOptions(changes: Partial<EmbeddedClusterOptions> = {}): EmbeddedClusterOptions {
  return {
    namespace: "batch-default",
    conventions: CONVENTIONS,
    archiveUrl: "http://127.0.0.1:9000",
    resultsUrl: "http://127.0.0.1:8000/results",
    seed: 7,
    speed: 1,
    now: START,
    writer: memoryWriter(),
    ...changes,
  };
}
