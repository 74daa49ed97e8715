import type { ClusterConventions } from "@/embedded/cluster/campaign_objects.ts";
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
} from "@/embedded/cluster/cluster_server.ts";
import type { ResultFile } from "@/embedded/cluster/result_files.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";

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

/** A written file. Its body is created when it is first read: that takes longer than the simulation of its writing. */
class WrittenFile {
  readonly contentType: string;
  readonly #create: () => Uint8Array;
  #body: Uint8Array | null = null;

  constructor({ body, contentType }: ResultFile) {
    this.#create = body;
    this.contentType = contentType;
  }

  get body(): Uint8Array {
    return this.#body ??= this.#create();
  }
}

/** A writer that stores files in memory, in the order of first writing. */
export function memoryWriter() {
  const files = new Map<string, WrittenFile>();
  const put = (file: ResultFile) => {
    files.set(file.key, new WrittenFile(file));
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
    http: LOCAL_HTTP,
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

/** Runs with a sample cluster, which is closed afterwards. */
export async function withSampleCluster(
  use: (cluster: EmbeddedCluster) => Promise<void>,
  changes: Partial<EmbeddedClusterOptions> = {},
): Promise<void> {
  const cluster = await startEmbeddedCluster(sampleOptions(changes));
  try {
    await use(cluster);
  } finally {
    await cluster.close();
  }
}

/** An event of a watch, as far as the tests look at it. */
interface WatchedEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly data?: Readonly<Record<string, string>>;
    readonly rows?: readonly { readonly cells: readonly string[] }[];
  };
}

/** Opens a watch; `next` waits for an event and returns null at the end of the stream. */
export async function openWatch(url: string, accept = "application/json") {
  const answer = await fetch(url, { headers: { accept } });
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async next(): Promise<WatchedEvent | null> {
      while (!text.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) return null;
        text += value;
      }
      const end = text.indexOf("\n");
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      return JSON.parse(line);
    },
    close: () => reader.cancel(),
  };
}
