import { S3Client } from "@aws-sdk/client-s3";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { FailedLogin, ReportedChange, StoreReports } from "@/embedded/store/changes.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { StoreServer, type StoreServerOptions } from "@/embedded/store/server/store_server.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { startWriterThread } from "@/embedded/store/writer/writer_client.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";

/** For tests whose clients and threads outlive them. */
export type Store = Awaited<ReturnType<typeof startStore>>;

const SAMPLE_STORE: Omit<StoreServerOptions, "folder"> = {
  hostname: "127.0.0.1",
  accounts: { samples: { converterPassword: "converter-password" } },
  markKey: null,
  publicEndpoint: null,
};

/** A store over a fresh folder; dispose of it with `await using`. */
export async function startStore(
  folder = Deno.makeTempDirSync(),
  options: Partial<Omit<StoreServerOptions, "folder">> = {},
  reports: Partial<StoreReports> = {},
) {
  const reported: ReportedChange[] = [];
  const failedLogins: FailedLogin[] = [];
  const all: StoreReports = {
    changed: (changes) => Promise.resolve(void reported.push(...changes)),
    loginFailed: (login) => void failedLogins.push(login),
    ...reports,
  };
  const writer = startWriterThread((message) => {
    throw new Error(message);
  });
  const server = await StoreServer.start({ ...SAMPLE_STORE, ...options, folder }, writer.port, all, LOCAL_HTTP).catch(
    (error) => {
      writer.terminate();
      throw error;
    },
  );
  const stop = async () => {
    await server.stop();
    writer.terminate();
  };
  return {
    folder,
    server,
    /** What the trail gets, unless `reports` takes it. */
    reported,
    failedLogins,
    s3: (tenant: string) => server.address(tenant)?.s3 ?? "",
    mapi: (tenant: string | null) => server.address(tenant)?.mapi ?? "",
    /** An AWS SDK client with the keys of a tenant's user. */
    client: (tenant: string, user: string, password: string = SAMPLE_PASSWORD) =>
      new S3Client({
        endpoint: server.address(tenant)?.s3,
        region: "us-east-1",
        forcePathStyle: true,
        credentials: s3Keys(user, password),
        maxAttempts: 1,
        requestChecksumCalculation: "WHEN_REQUIRED",
        responseChecksumValidation: "WHEN_REQUIRED",
      }),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      Deno.removeSync(folder, { recursive: true });
    },
  };
}

/** A store, and a client of the owner of its buckets. */
export interface GivenStore {
  readonly store: Store;
  readonly client: S3Client;
}

/** A test with a store of its own and an AWS SDK client of its curator; both outlive single tests. */
export function storeTest(name: string, body: (given: GivenStore) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await startStore();
    await body({ store, client: store.client("archive", "curator") });
  });
}

/** The S3 keys of a user: base64 of the name, MD5 of the password. */
export function s3Keys(user: string, password: string) {
  return {
    accessKeyId: Buffer.from(user).toString("base64"),
    secretAccessKey: createHash("md5").update(password).digest("hex"),
  };
}

/** The management API's header for a user. */
export function mapiAuthorization(user: string, password: string = SAMPLE_PASSWORD): Record<string, string> {
  const { accessKeyId, secretAccessKey } = s3Keys(user, password);
  return { authorization: `HCP ${accessKeyId}:${secretAccessKey}` };
}

/** The code of the store's error that something throws; "none" where it throws none. */
export function thrownCode(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return "none";
}

/** The error code of a promise of an S3 client; "ok" where it succeeds. */
export async function storeErrorCode(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error.name;
  }
  return "ok";
}
