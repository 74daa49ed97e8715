/** The thread of the embedded store, so that its work never delays responses of the site and the gateway. */
import type { StoreReports } from "@/embedded/store/changes.ts";
import type { Document } from "@/embedded/store/documents.ts";
import { callsOver, ownPort } from "@/embedded/threads.ts";
import { StoreServer, type StoreServerOptions } from "./store_server.ts";

/** The calls that this thread serves; `start` comes first. */
export type StoreCalls = typeof CALLS;

const CALLS = {
  async start(options: StoreServerOptions, writer: MessagePort): Promise<void> {
    server = await StoreServer.start(options, writer, {
      changed: (changes) => call("changed", changes),
      loginFailed: (login) => void call("loginFailed", login),
    });
  },
  address: (tenant: string | null) => server.address(tenant),
  allowOrigins: (origins: readonly string[]) => server.allowOrigins(origins),
  isFull: () => server.isFull(),
  auditEnd: () => server.auditEnd,
  noteAuditEnd: (end: Document) => server.noteAuditEnd(end),
  drain: () => server.drain(),
  stop: () => server.stop(),
};

let server: StoreServer;
const { call } = callsOver<StoreReports>(await ownPort(), CALLS);
