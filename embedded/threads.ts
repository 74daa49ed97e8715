import { DataFolderError } from "@/lib/std/start_errors.ts";

/** A thread of this process, and the port for messages to it. */
export interface Thread {
  readonly port: MessagePort;
  /** Ends the thread at once. */
  terminate(): void;
}

/**
 * Starts a module as a thread; the module gets its port from {@link ownPort}.
 *
 * An error that the thread does not catch is reported to `onFault`.
 */
export function startThread(module: string, name: string, onFault: (message: string) => void): Thread {
  const worker = new Worker(module, { type: "module", name });
  const { port1, port2 } = new MessageChannel();
  worker.onerror = (event) => {
    event.preventDefault();
    onFault(event.message);
  };
  worker.postMessage(null, [port2]);
  return {
    port: port1,
    terminate() {
      port1.close();
      worker.terminate();
    },
  };
}

/** Inside a thread: the port to the thread that started it. */
export function ownPort(): Promise<MessagePort> {
  return new Promise((resolve) => {
    globalThis.addEventListener("message", (event) => {
      if (event instanceof MessageEvent) resolve(event.ports[0]);
    }, { once: true });
  });
}

/** The functions that a thread serves, by name. */
type Served = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls what the thread at the other end of a port serves. */
type Call<Theirs> = <K extends keyof Theirs & string>(
  name: K,
  ...args: Theirs[K] extends (...args: infer A) => unknown ? A : never
) => Promise<Theirs[K] extends (...args: never[]) => infer R ? Awaited<R> : never>;

type Message =
  | { id: number; name: string; args: unknown[] }
  | { id: number; result: unknown }
  | { id: number; failed: string };

/**
 * Serves functions to the thread at the other end of a port, and calls what that one serves; a call of it that fails
 * throws {@link DataFolderError}. A port among the arguments moves to the other thread.
 *
 * @returns the calls, and a function that fails those under way, for the end of the other thread
 */
export function callsOver<Theirs>(
  port: MessagePort,
  ours: Served = {},
): { readonly call: Call<Theirs>; readonly fail: (reason: string) => void } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const fail = (id: number, reason: string) => waiting.get(id)?.reject(new DataFolderError(reason));
  port.onmessage = async ({ data }: MessageEvent<Message>) => {
    if ("name" in data) return port.postMessage(await response(ours, data));
    if ("failed" in data) fail(data.id, data.failed);
    else waiting.get(data.id)?.resolve(data.result);
    waiting.delete(data.id);
  };
  return {
    call: async (name, ...args: unknown[]) => {
      const id = ++lastId;
      const settled = Promise.withResolvers<unknown>();
      waiting.set(id, settled);
      port.postMessage({ id, name, args }, args.filter((one) => one instanceof MessagePort));
      return await settled.promise as never;
    },
    fail: (reason) => {
      for (const id of waiting.keys()) fail(id, reason);
    },
  };
}

async function response(ours: Served, { id, name, args }: Extract<Message, { name: string }>): Promise<Message> {
  try {
    return { id, result: await (ours[name] as (...args: unknown[]) => unknown)(...args) };
  } catch (error) {
    return { id, failed: error instanceof Error ? error.message : String(error) };
  }
}
