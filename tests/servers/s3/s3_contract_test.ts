import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { startStore } from "@/tests/embedded/store/store_fixture.ts";
import { s3Keys } from "@/tests/embedded/store/store_fixture.ts";
import { contractServer } from "./contract_server.ts";
import { KNOWN_DIFFERENCES } from "./known_differences.ts";
import { S3_CONTRACT } from "./s3_contract.ts";

/** Clients and threads outlive single tests. */
const leaks = { sanitizeOps: false, sanitizeResources: false };

for (const { name, run } of S3_CONTRACT) {
  Deno.test(`S3 contract, embedded store: ${name}`, leaks, async () => {
    await using store = await startStore();
    await run(contractServer(store.s3("archive"), s3Keys("curator", SAMPLE_PASSWORD)));
  });
}

for (const server of ["VERSITYGW", "MINIO"] as const) {
  const [endpoint, accessKeyId, secretAccessKey] = ["URL", "ACCESS_KEY", "SECRET_KEY"].map((part) =>
    Deno.env.get(`TEST_${server}_${part}`) ?? ""
  );
  for (const { name, run } of S3_CONTRACT) {
    const difference = KNOWN_DIFFERENCES[server][name];
    const why = !endpoint ? `needs TEST_${server}_URL, _ACCESS_KEY and _SECRET_KEY` : difference;
    Deno.test({
      name: `S3 contract, ${server}: ${name}${why ? ` (${why})` : ""}`,
      ...leaks,
      ignore: why !== undefined,
      fn: () => run(contractServer(endpoint, { accessKeyId, secretAccessKey })),
    });
  }
}
