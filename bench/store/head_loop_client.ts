import { startThread } from "@/lib/embedded/threads.ts";
import type { ToHeadLoop } from "@/bench/store/head_loop.ts";
import type { S3Server } from "@/bench/wire/s3_wire.ts";

/** Reads an object's head again and again from a thread of its own; `stop` gives the durations in ms. */
export function startHeadLoop(server: S3Server, bucket: string, key: string): { stop(): Promise<number[]> } {
  const failed = Promise.withResolvers<number[]>();
  const fault = (message: string) => failed.reject(new Error(message));
  const thread = startThread(new URL("./head_loop.ts", import.meta.url).href, "head loop", fault);
  const tell = (message: ToHeadLoop) => thread.port.postMessage(message);
  tell({ server: { origin: server.origin, keys: server.keys }, bucket, key });
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
