import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { type GatewayClient, logIn, madeBody } from "./gateway_client.ts";
import { sendParts } from "./part_upload.ts";
import { endOfTask } from "./task_client.ts";

export const BUCKET = "/buckets/fixity-bits";
export const PATH = `${BUCKET}/fixity`;
export const MIB = 1024 * 1024;

/** Runs a test's body with an application whose data folder it may damage, and may start again. */
export async function withData(
  body: (start: (env?: Record<string, string>) => Promise<Application>, dataFolder: string) => Promise<void>,
): Promise<void> {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-fixity-" });
  let running: Application | null = null;
  try {
    await body(
      async (env) => running = await startApplication({ dataFolder, env: { ...STORAGE_ONLY, ...env } }),
      dataFolder,
    );
  } finally {
    await (running as Application | null)?.kill();
    await Deno.remove(dataFolder, { recursive: true });
  }
}

/** The same with a bucket for the tests, and the account that has it. */
export async function withBucket(
  body: (curator: GatewayClient, scene: { readonly site: string; readonly dataFolder: string }) => Promise<void>,
): Promise<void> {
  await withData(async (start, dataFolder) => {
    const { site } = await start();
    await body(await curatorOf(site), { site, dataFolder });
  });
}

/** Logs in with the account that has the bucket of the tests, and creates it. */
export async function curatorOf(site: string): Promise<GatewayClient> {
  const curator = await logIn(site, "archive/curator");
  await curator.json("POST", "/buckets", { bucket: "fixity-bits" });
  return curator;
}

export const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export async function put(
  client: GatewayClient,
  key: string,
  size: number,
  headers = {},
): Promise<Buffer<ArrayBuffer>> {
  const body = Buffer.concat([...madeBody(size, key.length)]) as Buffer<ArrayBuffer>;
  const response = await fetch(`${client.base}${BUCKET}/objects/${key}`, {
    method: "PUT",
    headers: { authorization: client.authorization, ...headers },
    body,
  });
  assert.equal(response.status, 200, await response.text());
  return body;
}

export async function putInParts(client: GatewayClient, key: string, size: number, partBytes: number): Promise<void> {
  const whole = Buffer.concat([...madeBody(size, key.length)]);
  const { uploadId, parts } = await sendParts(client, {
    bucket: "fixity-bits",
    key,
    sizeBytes: size,
    partBytes,
    breaksOnce: 0,
    bytes: (number, length) => Buffer.from(whole.subarray((number - 1) * partBytes, (number - 1) * partBytes + length)),
  });
  await client.json("POST", `${BUCKET}/multipart/${key}/complete`, { upload_id: uploadId, parts });
}

/** The paths of the files that hold bodies, by their sizes. */
export async function bodyFiles(dataFolder: string): Promise<Map<number, string>> {
  const files = new Map<number, string>();
  for await (const hour of Deno.readDir(`${dataFolder}/bodies`)) {
    if (!hour.isDirectory) continue;
    for await (const { name } of Deno.readDir(`${dataFolder}/bodies/${hour.name}`)) {
      const path = `${dataFolder}/bodies/${hour.name}/${name}`;
      files.set((await Deno.stat(path)).size, path);
    }
  }
  return files;
}

export async function flipBit(path: string, at: number): Promise<void> {
  const bytes = await Deno.readFile(path);
  bytes[at] ^= 1;
  await Deno.writeFile(path, bytes);
}

export type Row = Record<string, unknown>;

export async function check(client: GatewayClient, body: Record<string, unknown> = {}) {
  const { task_id } = await client.json("POST", PATH, body);
  const end = await endOfTask(client, `${PATH}/${task_id}`);
  const report = await client.json("GET", `${PATH}/${task_id}/report`);
  return { id: String(task_id), end, report, rows: report.rows as Row[] };
}

/** The keys of rows with their results. */
export const results = (rows: readonly Row[]) => Object.fromEntries(rows.map(({ key, result }) => [key, result]));
