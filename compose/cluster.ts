import { startThread } from "@/embedded/threads.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import type { ClusterThreadOptions, FromCluster, ToCluster } from "./cluster_thread.ts";

/** The embedded cluster as the rest of the process sees it. */
export interface ClusterHandle {
  /** Origin of the Kubernetes API. */
  readonly url: string;
  /** A kubeconfig for it, in JSON. */
  readonly kubeconfig: string;
  /** Keeps the state and frees the ports. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded cluster and archive in a thread of their own.
 *
 * @param options called at once, so that the thread loads while they are found; what it throws ends the thread
 * @throws {DataFolderError}
 */
export async function startCluster(
  options: () => Promise<ClusterThreadOptions>,
  onFault: (message: string) => void,
): Promise<ClusterHandle> {
  const ended = Promise.withResolvers<void>();
  const module = new URL("./cluster_thread.ts", import.meta.url).href;
  const thread = startThread(module, "embedded cluster", (message) => {
    ended.resolve();
    onFault(message);
  });
  const ask = (message: ToCluster) =>
    new Promise<FromCluster>((resolve) => {
      thread.port.onmessage = ({ data }: MessageEvent<FromCluster>) => resolve(data);
      thread.port.postMessage(message);
    });
  let found;
  try {
    found = await options();
  } catch (error) {
    thread.terminate();
    throw error;
  }
  const answer = await ask({ start: found });
  if (!("started" in answer)) {
    thread.terminate();
    throw new DataFolderError(`The embedded cluster cannot start: ${"failed" in answer ? answer.failed : "no answer"}`);
  }
  return {
    ...answer.started,
    async stop() {
      // After a fault, nothing reads the message.
      await Promise.race([ask({ stop: true }), ended.promise]);
      thread.terminate();
    },
  };
}
