import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { OTHER_CA, TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** Where the runtime keeps what it has compiled. */
const OWN_FOLDERS = Object.fromEntries(
  Object.entries(Deno.env.toObject()).filter(([name]) => ["HOME", "DENO_DIR", "XDG_CACHE_HOME"].includes(name)),
);

/** What a process with no right but the network gets, by fetch and by node:https. */
async function outcomes(origin: string, more: readonly string[], variables: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--config=deno.json",
      "--no-prompt",
      "--allow-net",
      "--ignore-env",
      "tests/lib/http/upstream/tls_trust_client.ts",
      origin,
      JSON.stringify(more),
    ],
    cwd: ROOT,
    clearEnv: true,
    env: { ...OWN_FOLDERS, ...variables },
  }).output();
  return new TextDecoder().decode(stdout).trim() + new TextDecoder().decode(stderr);
}

Deno.test("tls trust: node:https trusts whom fetch trusts, the runtime's authorities and further ones, without a right", async () => {
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: TEST_CERTIFICATE,
    key: TEST_KEY,
    onListen() {},
  }, () => new Response("yes"));
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  const file = `${folder}/authorities.pem`;
  const origin = `https://127.0.0.1:${server.addr.port}`;
  await Deno.writeTextFile(file, TEST_CA);
  assert.equal(await outcomes(origin, [], {}), "unreachable unreachable");
  assert.equal(await outcomes(origin, [OTHER_CA], {}), "unreachable unreachable");
  assert.equal(await outcomes(origin, [`${OTHER_CA}\n${TEST_CA}`], {}), "200 200");
  for (const variable of ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]) {
    assert.equal(await outcomes(origin, [], { [variable]: file }), "200 200", variable);
    assert.equal(await outcomes(origin, [OTHER_CA], { [variable]: file }), "200 200", variable);
  }
});
