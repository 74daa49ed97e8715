import type { Repeated } from "@/bench/gateway/load.ts";
import type { ToRequestLoop } from "@/bench/gateway/request_loop.ts";
import { startThread } from "@/lib/embedded/threads.ts";

/** Sends a request again and again from a thread of its own; `stop` gives the durations in ms. */
export function startRequestLoop(origin: string, request: Repeated): { stop(): Promise<number[]> } {
  const failed = Promise.withResolvers<number[]>();
  const fault = (message: string) => failed.reject(new Error(message));
  const thread = startThread(new URL("./request_loop.ts", import.meta.url).href, "request loop", fault);
  const tell = (message: ToRequestLoop) => thread.port.postMessage(message);
  tell({ origin, request });
  return {
    async stop() {
      const durations = new Promise<number[]>((resolve) => {
        thread.port.onmessage = ({ data }: MessageEvent<number[]>) => resolve(data);
      });
      tell({ stop: true });
      try {
        return await Promise.race([durations, failed.promise]);
      } finally {
        thread.terminate();
      }
    },
  };
}
