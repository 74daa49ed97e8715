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
export function startLoop<Begin>(module: URL, name: string, begin: Begin): Loop {
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
