import assert from "node:assert/strict";
import { warnOfDerivation } from "@/compose/results.ts";
import { resultsDeps } from "@/tests/routes/results/results_fixture.ts";

Deno.test("results: a key derivation that does not fit the store is warned of by name", async () => {
  let server: string | null = null;
  await using store = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 403, headers: server === null ? {} : { server } }),
  );
  const endpoint = `http://127.0.0.1:${store.addr.port}`;
  const cases: [server: string | null, keyDerivation: "hcp" | "none", warning: RegExp | null][] = [
    ["VERSITYGW", "hcp", /^RESULTS_KEY_DERIVATION: hcp does not fit the results store, which is versitygw: set none$/],
    ["MinIO", "hcp", /which is minio: set none$/],
    ["HCP V9.5.0.12", "none", /^RESULTS_KEY_DERIVATION: none does not fit .* is hcp: set hcp$/],
    ["MinIO", "none", null],
    ["HCP V9.5.0.12", "hcp", null],
    ["nginx", "hcp", null],
    [null, "none", null],
  ];
  for (const [given, keyDerivation, warning] of cases) {
    server = given;
    const lines: string[] = [];
    await warnOfDerivation(resultsDeps(endpoint, { keyDerivation }), (line) => lines.push(line));
    if (warning === null) assert.deepEqual(lines, [], `${given} ${keyDerivation}`);
    else assert.match(lines.join(), warning);
  }
  await warnOfDerivation(resultsDeps("http://127.0.0.1:9"), assert.fail);
});
