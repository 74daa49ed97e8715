import { CONVERTER, RESULTS_BUCKET, RESULTS_TENANT } from "@/embedded/store/server/sample_data.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { callsOver, startThread } from "@/embedded/threads.ts";
import type { Config } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import type { ClusterCalls, ClusterThreadOptions } from "./cluster_thread.ts";
import type { EmbeddedStore } from "./sample_store.ts";

/**
 * Starts the embedded cluster with the sample campaigns, whose workers write their results into the embedded store where
 * there is one, and writes its kubeconfig into the data folder. Its thread loads while the store starts.
 *
 * @param origin where this process listens
 * @param failed called with a sentence when the cluster ends by itself
 * @throws DataFolderError
 */
export async function startSampleCluster(
  config: Config,
  folder: DataFolder,
  store: Promise<EmbeddedStore> | null,
  origin: string,
  failed: (message: string) => void,
): Promise<ClusterHandle> {
  const options = async () => {
    const address = await (await store)?.addresses.s3(RESULTS_TENANT);
    return {
      host: config.embedded.host,
      namespace: config.campaigns.namespaces[0],
      conventions: config.campaigns.conventions,
      ...config.simulator,
      resultsUrl: config.web?.resultsUrl || `${origin}/results`,
      folder: folder.path,
      results: address
        ? {
          endpoint: address.endpoint,
          tenant: RESULTS_TENANT,
          bucket: RESULTS_BUCKET,
          username: CONVERTER,
          password: folder.secret("converter-password"),
        }
        : null,
    };
  };
  const cluster = await startCluster(options, (message) => failed(`The embedded cluster ended: ${message}`));
  const path = `${folder.path}/kubeconfig`;
  try {
    // Only where it changed: a start goes on where the disk is full.
    if (textIfExists(path) !== cluster.kubeconfig) writeDurably(path, new TextEncoder().encode(cluster.kubeconfig));
  } catch (error) {
    if (!isNoSpace(error)) throw error;
    console.error(`${path} was not written: the disk is full.`);
  }
  return cluster;
}

/** The embedded cluster as the rest of the process sees it: the origin of the Kubernetes API, and a kubeconfig for it. */
export type ClusterHandle = Awaited<ReturnType<typeof startCluster>>;

/**
 * Starts the embedded cluster and archive in a thread of their own.
 *
 * @param options called at once, so that the thread loads while they are found; what it throws ends the thread
 * @throws {DataFolderError}
 */
async function startCluster(options: () => Promise<ClusterThreadOptions>, onFault: (message: string) => void) {
  const ended = Promise.withResolvers<void>();
  const module = new URL("./cluster_thread.ts", import.meta.url).href;
  const thread = startThread(module, "embedded cluster", (message) => {
    ended.resolve();
    onFault(message);
  });
  const { call } = callsOver<ClusterCalls>(thread.port);
  const fail = (error: unknown): never => {
    thread.terminate();
    throw error;
  };
  const found = await options().catch(fail);
  const started = await call("start", found).catch(({ message }) =>
    fail(new DataFolderError(`The embedded cluster cannot start: ${message}`))
  );
  return {
    ...started,
    /** Stores the state and frees the ports. */
    async stop() {
      // After a fault, nothing reads the message.
      await Promise.race([call("stop").catch(() => {}), ended.promise]);
      thread.terminate();
    },
  };
}
