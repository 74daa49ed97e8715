import { LRUCache } from "lru-cache";
import type { Document } from "@/embedded/store/documents.ts";
import { startWriterThread } from "@/embedded/store/writer/writer_client.ts";
import type { StoreReports } from "@/embedded/store/reported_change.ts";
import { startThread } from "@/embedded/threads.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { requestMarks } from "@/lib/std/request_mark.ts";
import type { StoreAddresses } from "@/lib/store/addresses.ts";
import { publicOrigin } from "./public_endpoint.ts";
import type { LevelAddress, StoreServerOptions } from "./store_server.ts";
import type { StoreRequest, StoreResponse } from "./store_thread.ts";

/** The embedded store as the rest of the process sees it. */
export interface EmbeddedStore {
  /** Where its tenants are reached. An unknown tenant is sent to a port that rejects every request. */
  readonly addresses: StoreAddresses;
  /** Lets pages of these origins read the responses of S3. */
  allowOrigins(origins: readonly string[]): Promise<void>;
  /** Whether the disk of the data folder takes no more: writes fail then, reads and deletions continue. */
  isFull(): Promise<boolean>;
  /** Where the application notes how far its audit trail has got. */
  readonly auditEnd: { read(): Promise<Document | null>; write(end: Document): Promise<void> };
  /** Where it reports what its clients change: until then, they wait. */
  reportTo(reports: StoreReports): void;
  /** Lets requests under way end, and refuses further ones. */
  drain(): Promise<void>;
  /** Lets requests under way end, then closes the data folder. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded store in a thread of its own. A later end of the thread is reported to `onFault`.
 *
 * @throws {DataFolderError}
 */
export async function startEmbeddedStore(
  options: Omit<StoreServerOptions, "markKey">,
  onFault: (message: string) => void,
): Promise<EmbeddedStore> {
  const markKey = crypto.getRandomValues(new Uint8Array(32));
  const waiting = new Map<number, (response: Answer) => void>();
  let lastId = 0;
  const reports = Promise.withResolvers<StoreReports>();
  const fault = (message: string) => {
    for (const [id, settle] of waiting) settle({ id, failed: message });
    onFault(message);
  };
  const thread = startThread(new URL("./store_thread.ts", import.meta.url).href, "embedded store", fault);
  // Started here and not in the store's thread: a thread that starts another one waits a second for it.
  const writer = startWriterThread(fault);
  const terminate = () => {
    thread.terminate();
    writer.terminate();
  };
  thread.port.onmessage = async ({ data }: MessageEvent<StoreResponse>) => {
    if ("loginFailed" in data) return (await reports.promise).loginFailed(data.loginFailed);
    if ("changed" in data) {
      const isRecorded = await (await reports.promise).changed(data.changed).then(() => true, () => false);
      return thread.port.postMessage({ report: data.report, isRecorded });
    }
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  const request = async (message: Unnumbered<StoreRequest>, ports: MessagePort[] = []): Promise<Success> => {
    const id = ++lastId;
    const response = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      thread.port.postMessage({ ...message, id }, ports);
    });
    if ("failed" in response) throw new DataFolderError(response.failed);
    return response;
  };
  const requestAddress = async (tenant: string | null): Promise<LevelAddress | null> => {
    const response = await request({ address: tenant });
    return "address" in response ? response.address : null;
  };

  try {
    await request({ start: { ...options, markKey } }, [writer.port]);
  } catch (error) {
    terminate();
    throw error;
  }
  const system = await requestAddress(null);
  const cached = new LRUCache<string, LevelAddress>({ max: ADDRESS_CACHE_LIMIT });
  const level = async (tenant: string | null): Promise<LevelAddress> => {
    if (!system) throw new DataFolderError("the embedded store has no system level");
    if (tenant === null) return system;
    const found = cached.get(tenant) ?? await requestAddress(tenant);
    if (!found) return { s3: system.s3, mapi: system.s3 };
    cached.set(tenant, found);
    return found;
  };
  return {
    addresses: {
      async s3(tenant) {
        const { s3 } = await level(tenant);
        const publicEndpoint = tenant === null ? null : publicOrigin(options.publicEndpoint, tenant);
        return { endpoint: s3, publicEndpoint: publicEndpoint ?? s3, ignoresKeys: s3 === system?.s3 };
      },
      mapi: async (tenant) => (await level(tenant)).mapi,
      mark: requestMarks(markKey).write,
    },
    allowOrigins: async (origins) => void await request({ allowOrigins: origins }),
    async isFull() {
      const response = await request({ isFull: true });
      return "isFull" in response && response.isFull;
    },
    auditEnd: {
      async read() {
        const response = await request({ auditEnd: "read" });
        return "auditEnd" in response ? response.auditEnd : null;
      },
      write: async (end) => void await request({ auditEnd: end }),
    },
    reportTo: reports.resolve,
    drain: async () => void await request({ drain: true }),
    async stop() {
      await request({ stop: true });
      terminate();
    },
  };
}

/** How many tenants' addresses are cached. */
const ADDRESS_CACHE_LIMIT = 1000;

type Answer = Extract<StoreResponse, { id: number }>;
type Success = Exclude<Answer, { failed: string }>;

type Unnumbered<M> = M extends { id: number } ? Omit<M, "id"> : never;
