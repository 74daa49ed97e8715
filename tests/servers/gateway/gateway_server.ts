import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ownKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { genericConditions, storeProbe } from "@/lib/s3/probes.ts";
import { rejectsShortBodies } from "@/lib/s3/store_kind.ts";
import { UPLOAD_SIZES } from "@/lib/s3/object_upload.ts";
import { addressesAt, withGateway } from "@/tests/routes/gateway_fixture.ts";
import type { Backend, ContractCase } from "@/tests/servers/contract.ts";

const MIB = 1024 ** 2;

/** Smallest parts, so that little is enough for many. */
export const PART_BYTES = 5 * MIB;

/** The gateway over a backend, and somebody logged in. */
export interface Client {
  /** A fresh bucket's name. */
  readonly bucket: string;
  /** Calls a path below /api/v1. */
  call(method: string, path: string, body?: BodyInit | null, headers?: HeadersInit): Promise<Response>;
  /** The same with a JSON body; answers status and JSON. */
  json(method: string, path: string, body?: unknown): Promise<[status: number, body: Answer]>;
  /** Only the status. */
  status(method: string, path: string, body?: BodyInit | null, headers?: HeadersInit): Promise<number>;
  /** A client with other keys. */
  as(accessKey: string, secretKey: string): Promise<Client>;
}

/** Something that the gateway has to do in front of every S3 server. */
export type GatewayCase = ContractCase<Client>;

/** What the gateway answers, looked into by the tests. */
export type Answer = Awaited<ReturnType<Response["json"]>>;

/** Runs a case on a gateway of its own in front of a backend, in a bucket that is gone afterwards. */
export async function withBackend(backend: Backend, run: (client: Client) => Promise<void>): Promise<void> {
  const s3 = {
    addresses: addressesAt(backend.endpoint),
    region: "us-east-1",
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 60_000 }),
    now: Date.now,
  };
  const probe = storeProbe(s3, null, "unknown");
  await withGateway({
    gateway: {
      mayTruncate: backend.isEmbedded
        ? undefined
        : (hasDigest) => probe().then((found) => !found || !rejectsShortBodies(found.kind, hasDigest)),
      backend: "generic",
      mapiEnabled: false,
      identify: ownKeyIdentities("native"),
      addresses: s3.addresses,
      conditions: genericConditions(s3),
      uploadSizes: {
        ...UPLOAD_SIZES,
        maxPutBytes: PART_BYTES,
        knownPartBytes: PART_BYTES,
        partBytes: () => PART_BYTES,
      },
    },
    app: { now: Date.now },
  }, async ({ origin }) => {
    const bucket = `gateway-${randomUUID()}`;
    const client = await loggedIn(origin, bucket, backend.accessKeyId, backend.secretAccessKey);
    assert.equal(await client.status("POST", "/buckets", JSON.stringify({ bucket })), 201);
    try {
      await run(client);
    } finally {
      await client.status("DELETE", `/buckets/${bucket}?force=true`);
    }
  });
}

async function loggedIn(origin: string, bucket: string, username: string, password: string): Promise<Client> {
  const form = new URLSearchParams({ username, password });
  const login = await fetch(`${origin}/api/v1/auth/token`, { method: "POST", body: form });
  const { access_token } = await login.json();
  const call: Client["call"] = (method, path, body, headers) =>
    fetch(`${origin}/api/v1${path}`, {
      method,
      body,
      headers: { ...Object.fromEntries(new Headers(headers)), Authorization: `Bearer ${access_token}` },
    });
  return {
    bucket,
    call,
    async json(method, path, body) {
      const response = await call(method, path, body === undefined ? null : JSON.stringify(body));
      return [response.status, await response.json()];
    },
    async status(method, path, body, headers) {
      const response = await call(method, path, body, headers);
      await response.body?.cancel();
      return response.status;
    },
    as: (accessKey, secretKey) => loggedIn(origin, bucket, accessKey, secretKey),
  };
}
