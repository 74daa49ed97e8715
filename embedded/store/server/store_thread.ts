/** The thread of the embedded store, so that its work never delays responses of the site and the gateway. */
import type { Document } from "@/embedded/store/documents.ts";
import { ownPort } from "@/embedded/threads.ts";
import { type LevelAddress, StoreServer, type StoreServerOptions } from "./store_server.ts";

/** Messages to the thread. Each response carries the id of its request. */
export type StoreRequest =
  | { id: number; start: StoreServerOptions } // the writer's port comes with it
  | { id: number; address: string | null }
  | { id: number; allowOrigins: readonly string[] }
  | { id: number; isFull: true }
  | { id: number; auditEnd: "read" | Document }
  | { id: number; stop: true };

/** Messages from the thread. */
export type StoreResponse =
  | { id: number; address: LevelAddress | null }
  | { id: number; isFull: boolean }
  | { id: number; auditEnd: Document | null }
  | { id: number; failed: string };

const port = await ownPort();
let server: StoreServer | null = null;

async function handle(request: StoreRequest, ports: readonly MessagePort[]): Promise<StoreResponse> {
  if ("isFull" in request) return { id: request.id, isFull: await server?.isFull() ?? false };
  if ("auditEnd" in request) {
    if (request.auditEnd !== "read") await server?.noteAuditEnd(request.auditEnd);
    return { id: request.id, auditEnd: server?.auditEnd ?? null };
  }
  if ("start" in request) server = await StoreServer.start(request.start, ports[0]);
  else if ("allowOrigins" in request) server?.allowOrigins(request.allowOrigins);
  else if ("stop" in request) await server?.stop();
  return { id: request.id, address: "address" in request ? server?.address(request.address) ?? null : null };
}

port.onmessage = async ({ data, ports }: MessageEvent<StoreRequest>) => {
  try {
    port.postMessage(await handle(data, ports));
  } catch (error) {
    port.postMessage({ id: data.id, failed: error instanceof Error ? error.message : String(error) });
  }
};
