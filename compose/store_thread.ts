/** The thread of the embedded store, so that its work never delays responses of the site and the gateway. */
import type { StoreReports } from "@/embedded/store/changes.ts";
import type { Document } from "@/embedded/store/documents.ts";
import { StoreServer, type StoreServerOptions } from "@/embedded/store/server/store_server.ts";
import { callsOver, ownPort } from "@/embedded/threads.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";

/** The calls that this thread serves; `start` comes first. */
export type StoreCalls = typeof CALLS;

const CALLS = {
  async start(options: StoreServerOptions, writer: MessagePort): Promise<void> {
    const reports: StoreReports = {
      changed: (changes) => call("changed", changes),
      loginFailed: (login) => void call("loginFailed", login),
    };
    server = await StoreServer.start(options, writer, reports, LOCAL_HTTP);
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
