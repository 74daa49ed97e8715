import assert from "node:assert/strict";
import { startApplication, StartError } from "../application.ts";
import { logIn, madeBody } from "./gateway_client.ts";

async function refusedStart(options: Parameters<typeof startApplication>[0]): Promise<string> {
  try {
    const application = await startApplication(options);
    await application.stop();
  } catch (error) {
    if (error instanceof StartError) return error.output.trimEnd();
    throw error;
  }
  return "it started";
}

Deno.test("start: a taken port ends it with one line that names the way out", async () => {
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = other.addr as Deno.NetAddr;
  const output = await refusedStart({ env: { PORT: String(port) } });
  assert.match(output, new RegExp(`^PORT: ${port} is taken.*another PORT$`));
});

Deno.test("start: a locked data folder ends it with one line that names the way out", async () => {
  const dataFolder = await Deno.makeTempDir();
  const first = await startApplication({ dataFolder });
  const output = await refusedStart({ dataFolder });
  await first.stop();
  await Deno.remove(dataFolder, { recursive: true });
  assert.match(output, /^The data folder .* is in use by another Stackroom: .* DATA_DIR .*$/);
  assert.ok(output.includes(dataFolder));
});

Deno.test("start: an unwritable data folder ends it with one line that names the way out", async () => {
  const file = await Deno.makeTempFile();
  const output = await refusedStart({ dataFolder: `${file}/below` });
  await Deno.remove(file);
  assert.match(output, /^The data folder .* cannot be written .* DATA_DIR .*$/);
});

Deno.test("start: a bad variable ends it with one line that names it", async () => {
  assert.match(await refusedStart({ env: { PORT: "many" } }), /^PORT: [^\n]+$/);
  assert.match(await refusedStart({ env: { EMBEDDED: "sometimes" } }), /^EMBEDDED: [^\n]+$/);
  assert.match(await refusedStart({ env: { HCP_DOMAIN: "store.example.org" } }), /^HCP_DOMAIN: [^\n]+$/);
});

Deno.test("start: says the site, the API page, the logins and the data folder", async () => {
  const application = await startApplication();
  await application.stop();
  const output = application.output();
  assert.match(output, /^Site\s+http:\/\/127\.0\.0\.1:\d+\/$/m);
  assert.match(output, /^API\s+http:\/\/127\.0\.0\.1:\d+\/docs$/m);
  for (const login of ["archive/curator", "archive/reader", "research/researcher", "admin"]) {
    assert.ok(output.includes(login), login);
  }
  assert.ok(output.includes(application.dataFolder));
});

Deno.test("stop: a request under way ends well, and one that stalls is cut", async () => {
  const application = await startApplication();
  const curator = await logIn(application.site, "archive/curator");
  const { port } = new URL(application.site);
  const stalled = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const [part] = madeBody(1024 * 1024, 1);
  await stalled.write(
    new TextEncoder().encode(
      `PUT /api/v1/buckets/letters/objects/stalled HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        `Authorization: ${curator.authorization}\r\nContent-Length: 2000000\r\n\r\n`,
    ),
  );
  await stalled.write(part);
  const { code } = await application.stop();
  assert.equal(code, 0);
  assert.equal(new TextDecoder().decode(new Uint8Array(await readAll(stalled))).includes(" 200 "), false);
});

async function readAll(connection: Deno.Conn): Promise<number[]> {
  const bytes: number[] = [];
  try {
    for await (const part of connection.readable) bytes.push(...part);
  } catch {
    // The connection was cut, which is what is expected here.
  }
  return bytes;
}
