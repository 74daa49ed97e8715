import assert from "node:assert/strict";
import { ownKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { genericConditions } from "@/lib/s3/probes.ts";
import { CONDITION_TABLES } from "@/lib/s3/store_kind.ts";
import { addressesAt } from "@/tests/routes/gateway_fixture.ts";
import { type Backend, contractTests, type OtherServer } from "@/tests/servers/contract.ts";
import { BUCKET_CASES, VERSION_CASES } from "./bucket_cases.ts";
import { FIXITY_CASES } from "./fixity_cases.ts";
import { type GatewayCase, withBackend } from "./gateway_server.ts";
import { OBJECT_CASES } from "./object_cases.ts";
import { UPLOAD_CASES } from "./upload_cases.ts";

/** Found by running the contract on them. */
const DIFFERENCES = {
  VERSITYGW: {
    "versions are switched on, kept, read, listed in pages and deleted one by one":
      "begins again with every page of versions",
    "an access list that was read can be set again":
      "refuses access lists of buckets that were made without a word of it",
    "odd segments of keys are kept": "keys are paths of files, and folded",
  },
  MINIO: {
    "CORS rules are set, read and taken away": "has no CORS rules of buckets: 501",
    "an access list that was read can be set again": "has no access lists, and shows an owner without a name",
    "odd segments of keys are kept": "refuses a//b",
    "the abort of an unknown upload is 404": "calls every abort a success",
  },
};

function conditions(server: OtherServer, { endpoint, accessKeyId, secretAccessKey }: Backend): GatewayCase {
  return {
    name: "it holds the conditions that are written of it, and says its name",
    async run({ bucket, call, json }) {
      const upstream = upstreamClient({ verifyTls: true, timeoutMs: 60_000 });
      // Without its name the server is tried.
      const hidden: typeof upstream = {
        ...upstream,
        send: async (request) => request.operation === "ProbeEndpoint" ? new Response() : await upstream.send(request),
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
    },
  };
}

/** The gateway's data plane as its clients see it, whatever store is behind it. */
contractTests({
  name: "gateway contract",
  cases: [...BUCKET_CASES, ...FIXITY_CASES, ...OBJECT_CASES, ...UPLOAD_CASES, ...VERSION_CASES],
  differences: DIFFERENCES,
  given: withBackend,
  of: (server, backend) => [conditions(server, backend)],
});
