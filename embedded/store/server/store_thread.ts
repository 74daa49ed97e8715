/** The thread of the embedded store, so that its work never delays the answers of the site and the gateway. */
import { ownPort } from "@/embedded/threads.ts";
import { type LevelAddress, StoreServer, type StoreServerOptions } from "./store_server.ts";

/** What the thread is told. Each message with an id is answered with that id. */
export type ToStore =
  | { id: number; start: StoreServerOptions } // the writer's port comes with it
  | { id: number; address: string | null }
  | { id: number; allowOrigins: readonly string[] }
  | { id: number; isFull: true }
  | { id: number; stop: true };

/** What the thread answers. */
export type FromStore =
  | { id: number; address: LevelAddress | null }
  | { id: number; isFull: boolean }
  | { id: number; failed: string };

const port = await ownPort();
let server: StoreServer | null = null;

async function answer(told: ToStore, ports: readonly MessagePort[]): Promise<FromStore> {
  if ("isFull" in told) return { id: told.id, isFull: await server?.isFull() ?? false };
  if ("start" in told) server = await StoreServer.start(told.start, ports[0]);
  else if ("allowOrigins" in told) server?.allowOrigins(told.allowOrigins);
  else if ("stop" in told) await server?.stop();
  return { id: told.id, address: "address" in told ? server?.address(told.address) ?? null : null };
}

port.onmessage = async ({ data, ports }: MessageEvent<ToStore>) => {
  try {
    port.postMessage(await answer(data, ports));
  } catch (error) {
    port.postMessage({ id: data.id, failed: error instanceof Error ? error.message : String(error) });
  }
};
