import type { StoreReports } from "@/embedded/store/changes.ts";
import type { Document } from "@/embedded/store/documents.ts";
import { publicOrigin } from "@/embedded/store/ports.ts";
import type { LevelAddress, StoreServerOptions } from "@/embedded/store/server/store_server.ts";
import { startWriterThread } from "@/embedded/store/writer/writer_client.ts";
import { callsOver, startThread } from "@/embedded/threads.ts";
import type { Config } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { addressesOnCall, requestMarks } from "@/lib/std/store_addresses.ts";
import type { StoreCalls } from "./store_thread.ts";

/**
 * Starts the embedded store and lets the pages of this process, under each of its names, use it from a browser.
 *
 * @param site where this process listens, under the scheme that browsers use
 * @param failed called with a sentence when the store ends by itself
 * @throws DataFolderError
 */
export async function startStore(
  config: Config,
  folder: DataFolder,
  site: { readonly origin: string; readonly port: number },
  failed: (message: string) => void,
): Promise<EmbeddedStore> {
  const store = await startEmbeddedStore({
    folder: folder.path,
    hostname: config.embedded.host,
    accounts: config.embedded.administrators === null
      ? { samples: { converterPassword: folder.secret("converter-password") } }
      : { administrators: config.embedded.administrators },
    publicEndpoint: config.embedded.publicEndpoint,
  }, (message) => failed(`The embedded store ended: ${message}`));
  const { protocol } = new URL(site.origin);
  const names = config.server.allowedHosts ?? [];
  const listed = config.gateway?.corsOrigins ?? [];
  await store.allowOrigins([
    site.origin,
    ...(config.server.publicOrigin === null ? [] : [config.server.publicOrigin]),
    ...names.map((name) => new URL(`${protocol}//${name}:${site.port}`).origin),
    ...(listed === "*" ? [] : listed),
  ]);
  return store;
}

/** The embedded store as the rest of the process sees it. */
export type EmbeddedStore = Awaited<ReturnType<typeof startEmbeddedStore>>;

/**
 * Starts the embedded store in a thread. A later end of the thread is reported to `onFault`.
 *
 * @throws {DataFolderError}
 */
async function startEmbeddedStore(
  options: Omit<StoreServerOptions, "markKey">,
  onFault: (message: string) => void,
) {
  const markKey = crypto.getRandomValues(new Uint8Array(32));
  const reports = Promise.withResolvers<StoreReports>();
  const fault = (message: string) => {
    fail(message);
    onFault(message);
  };
  const thread = startThread(new URL("./store_thread.ts", import.meta.url).href, "embedded store", fault);
  // Started here and not in the store's thread: a thread that starts another one waits a second for it.
  const writer = startWriterThread(fault);
  const { call, fail } = callsOver<StoreCalls>(thread.port, {
    changed: async (...[changes]: Parameters<StoreReports["changed"]>) =>
      await (await reports.promise).changed(changes),
    loginFailed: async (...[login]: Parameters<StoreReports["loginFailed"]>) =>
      (await reports.promise).loginFailed(login),
  });
  const terminate = () => {
    thread.terminate();
    writer.terminate();
  };
  await call("start", { ...options, markKey }, writer.port).catch((error) => {
    terminate();
    throw error;
  });
  const system = await call("address", null);
  const addressOf = ({ s3, mapi }: LevelAddress, tenant: string | null) => {
    const publicEndpoint = tenant === null ? null : publicOrigin(options.publicEndpoint, tenant);
    return { mapi, s3: { endpoint: s3, publicEndpoint: publicEndpoint ?? s3, ignoresKeys: s3 === system?.s3 } };
  };
  const addresses = addressesOnCall(async (tenant) => {
    if (!system) throw new DataFolderError("the embedded store has no system level");
    if (tenant === null) return addressOf(system, null);
    const found = await call("address", tenant);
    return found
      ? { ...addressOf(found, tenant), isKnown: true }
      : addressOf({ s3: system.s3, mapi: system.s3 }, tenant);
  }, requestMarks(markKey).write);
  return {
    /** Where its tenants are reached. An unknown tenant is sent to a port that rejects every request. */
    addresses,
    /** Lets pages of these origins read the responses of S3. */
    allowOrigins: (origins: readonly string[]) => call("allowOrigins", origins),
    /** Whether the disk of the data folder takes no more: writes fail then, reads and deletions continue. */
    isFull: () => call("isFull"),
    /** Where the application notes how far its audit trail has got. */
    auditEnd: { read: () => call("auditEnd"), write: (end: Document) => call("noteAuditEnd", end) },
    /** Where it reports what its clients change: until then, they wait. */
    reportTo: (to: StoreReports) => reports.resolve(to),
    /** Lets requests under way end, and refuses further ones. */
    drain: () => call("drain"),
    /** Lets requests under way end, then closes the data folder. */
    async stop() {
      await call("stop");
      terminate();
    },
  };
}
