import type { Repeated } from "@/bench/gateway/load.ts";
import type { ToRequestLoop } from "@/bench/gateway/request_loop.ts";
import type { ToHeadLoop } from "@/bench/store/head_loop.ts";
import type { S3Server } from "@/bench/wire/s3_wire.ts";
import { startThread } from "@/embedded/threads.ts";

/** Work that a separate thread repeats; `stop` returns the duration of each run in ms. */
export interface Loop {
  stop(): Promise<number[]>;
}

/**
 * Starts a module as a thread that works from its first message on and answers `{ stop: true }` with its durations.
 *
 * @param begin the first message
 */
function startLoop<Begin>(module: URL, name: string, begin: Begin): Loop {
  const failed = Promise.withResolvers<number[]>();
  const fault = (message: string) => failed.reject(new Error(message));
  const thread = startThread(module.href, name, fault);
  const tell = (message: Begin | { stop: true }) => thread.port.postMessage(message);
  tell(begin);
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

/** Repeats a request from a separate thread. */
export function startRequestLoop(origin: string, request: Repeated): Loop {
  const begin: ToRequestLoop = { origin, request };
  return startLoop(new URL("./gateway/request_loop.ts", import.meta.url), "request loop", begin);
}

/** Repeats HEAD of an object from a separate thread. */
export function startHeadLoop({ origin, keys }: S3Server, bucket: string, key: string): Loop {
  const begin: ToHeadLoop = { server: { origin, keys }, bucket, key };
  return startLoop(new URL("./store/head_loop.ts", import.meta.url), "head loop", begin);
}
