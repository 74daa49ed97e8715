import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { s3Keys, startStore } from "@/tests/embedded/store/store_fixture.ts";
import { GATEWAY_CONTRACT } from "./gateway_contract.ts";
import { withBackend } from "./gateway_server.ts";
import { KNOWN_DIFFERENCES } from "./known_differences.ts";

/** Clients and threads outlive single tests. */
const leaks = { sanitizeOps: false, sanitizeResources: false };

for (const { name, run } of GATEWAY_CONTRACT) {
  Deno.test(`gateway contract, embedded store: ${name}`, leaks, async () => {
    await using store = await startStore();
    await withBackend({ endpoint: store.s3("archive"), ...s3Keys("curator", SAMPLE_PASSWORD) }, run);
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
}
