import { startThread } from "@/embedded/threads.ts";

/** Something that is done again and again in a thread of its own; `stop` gives how long each time took, in ms. */
export interface Loop {
  stop(): Promise<number[]>;
}

/**
 * Starts the thread of a module that begins with the first message and answers `{ stop: true }` with its durations.
 *
 * @param begin what is sent first
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
