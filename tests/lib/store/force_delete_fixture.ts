import { type Caller, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";

/** A bucket of many versions, served by a store of the test's own; it answers at both protocols. */
export interface FakeBucket {
  /** Versions left. */
  versions: number;
  /** Every call: method, path and what it is about. */
  readonly calls: string[];
  /** Sizes of the multi-deletes. */
  readonly batches: number[];
}

export interface FakeOptions {
  readonly versions: number;
  /** Answers instead of the store where it answers anything. */
  readonly instead?: (call: string, bucket: FakeBucket) => Response | undefined;
}

export interface ForceFixture {
  readonly bucket: FakeBucket;
  readonly s3: S3;
  readonly mapi: Mapi;
  readonly caller: Caller;
}

/** Runs the test's body against a fake store, with the clients of both protocols. */
export async function withFakeBucket(options: FakeOptions, body: (fixture: ForceFixture) => Promise<void>) {
  const bucket: FakeBucket = { versions: options.versions, calls: [], batches: [] };
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const about = ["versions", "uploads", "list-type", "delete", "uploadId"].find((name) => searchParams.has(name));
    const call = [request.method, pathname, about].filter(Boolean).join(" ");
    bucket.calls.push(call);
    const text = await request.text();
    const answer = options.instead?.(call, bucket);
    if (answer) return answer;
    if (about === "uploads") return new Response("<ListMultipartUploadsResult/>");
    if (about === "versions") return new Response(versionPage(bucket.versions));
    if (about === "list-type") return new Response("<ListBucketResult/>");
    if (about === "delete") {
      const size = text.split("<Object>").length - 1;
      bucket.batches.push(size);
      bucket.versions -= size;
      return new Response("<DeleteResult/>");
    }
    return new Response(null, { status: request.method === "DELETE" ? 204 : 200 });
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const addresses = {
    s3: () => Promise.resolve({ endpoint: origin, publicEndpoint: origin }),
    mapi: () => Promise.resolve(origin),
  };
  const client = upstreamClient({ verifyTls: true, timeoutMs: 30_000 });
  const identity = await storeIdentities("native")({ sub: "curator", pwd: "p", tenant: "archive" });
  await body({
    bucket,
    s3: { addresses, region: "us-east-1", upstream: client, now: Date.now },
    mapi: { addresses, upstream: client, timeoutMs: 30_000 },
    caller: identity,
  });
}

function versionPage(left: number): string {
  const count = Math.min(left, 1000);
  const entries = Array.from({ length: count }, (_, i) => {
    const name = i % 10 === 0 ? "DeleteMarker" : "Version";
    const size = i % 10 === 0 ? "" : "<Size>1</Size>";
    return `<${name}><Key>scans/${left - i}.tif</Key><VersionId>${
      left - i
    }</VersionId><IsLatest>false</IsLatest>${size}</${name}>`;
  });
  const next = `<NextKeyMarker>scans/${left}</NextKeyMarker><NextVersionIdMarker>${left}</NextVersionIdMarker>`;
  const more = left > count;
  return `<ListVersionsResult><IsTruncated>${more}</IsTruncated>${more ? next : ""}${
    entries.join("")
  }</ListVersionsResult>`;
}

/** An S3 error answer. */
export function refused(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>${code}!</Message></Error>`, { status });
}
