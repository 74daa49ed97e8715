import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { ownKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { genericConditions } from "@/lib/s3/probes.ts";
import { CONDITION_TABLES } from "@/lib/s3/store_kind.ts";
import { s3Keys, startStore } from "@/tests/embedded/store/store_fixture.ts";
import { addressesAt } from "@/tests/routes/gateway_fixture.ts";
import { GATEWAY_CONTRACT } from "./gateway_contract.ts";
import { withBackend } from "./gateway_server.ts";
import { KNOWN_DIFFERENCES } from "./known_differences.ts";

/** Clients and threads outlive single tests. */
const leaks = { sanitizeOps: false, sanitizeResources: false };

for (const { name, run } of GATEWAY_CONTRACT) {
  Deno.test(`gateway contract, embedded store: ${name}`, leaks, async () => {
    await using store = await startStore();
    const keys = s3Keys("curator", SAMPLE_PASSWORD);
    await withBackend({ endpoint: store.s3("archive"), ...keys, isEmbedded: true }, run);
  });
}

for (const server of ["VERSITYGW", "MINIO"] as const) {
  const [endpoint, accessKeyId, secretAccessKey] = ["URL", "ACCESS_KEY", "SECRET_KEY"].map((part) =>
    Deno.env.get(`TEST_${server}_${part}`) ?? ""
  );
  for (const { name, run } of GATEWAY_CONTRACT) {
    const difference = KNOWN_DIFFERENCES[server][name];
    const why = !endpoint ? `needs TEST_${server}_URL, _ACCESS_KEY and _SECRET_KEY` : difference;
    Deno.test({
      name: `gateway contract, ${server}: ${name}${why ? ` (${why})` : ""}`,
      ...leaks,
      ignore: why !== undefined,
      fn: () => withBackend({ endpoint, accessKeyId, secretAccessKey }, run),
    });
  }
  Deno.test({
    name: `gateway contract, ${server}: it holds the conditions that are written of it, and says its name`,
    ...leaks,
    ignore: !endpoint,
    fn: () =>
      withBackend({ endpoint, accessKeyId, secretAccessKey }, async ({ bucket, call, json }) => {
        const upstream = upstreamClient({ verifyTls: true, timeoutMs: 60_000 });
        // Without its name the server is tried.
        const hidden: typeof upstream = {
          ...upstream,
          send: async (request) =>
            request.operation === "ProbeEndpoint" ? new Response() : await upstream.send(request),
        };
        const at = { addresses: addressesAt(endpoint), region: "us-east-1", now: Date.now };
        const caller = await ownKeyIdentities("native")({ sub: accessKeyId, pwd: secretAccessKey, tenant: null });
        const place = { bucket, key: "folder/k" };
        const table = CONDITION_TABLES[server === "MINIO" ? "minio" : "versitygw"];
        assert.equal(await genericConditions({ ...at, upstream })(caller, place), table);
        for (const status of ["never", "Enabled"]) {
          if (status === "Enabled") await json("PUT", `/buckets/${bucket}/versioning`, { status });
          assert.deepEqual(await genericConditions({ ...at, upstream: hidden })(caller, place), table);
        }
        assert.equal((await (await call("GET", `/buckets/${bucket}/versions`)).json()).key_count, 0);
      }),
  });
}
