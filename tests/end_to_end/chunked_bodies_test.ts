import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { logIn } from "./gateway_client.ts";
import { RawClient, type RawRequest } from "./raw_client.ts";

const MIB = 1024 * 1024;
const options = { sanitizeOps: false, sanitizeResources: false };

/** Processor time of all threads, in ticks of the kernel. */
function processorTicks({ pid }: Application): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1].split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

Deno.test("connections: chunked bodies cost no more on a used connection than on a fresh one", options, async () => {
  const application = await startApplication({ env: STORAGE_ONLY });
  try {
    const { authorization } = await logIn(application.site, "archive/curator");
    const origin = application.site.replace(/\/$/, "");
    const upload: RawRequest = {
      origin,
      method: "PUT",
      target: "/api/v1/buckets/letters/objects/a",
      headers: { Authorization: authorization },
      lengthBytes: 32 * MIB,
      chunkBytes: 16_384,
    };
    const credentials = new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD }).toString();
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const login: RawRequest = {
      origin,
      method: "POST",
      target: "/api/v1/auth/token",
      headers: form,
      begins: credentials,
      lengthBytes: credentials.length,
    };
    const cost = async (earlier: readonly RawRequest[]) => {
      const client = await RawClient.to(origin);
      try {
        for (const sent of earlier) assert.equal((await client.send(sent)).status, 200);
        const ticks = processorTicks(application);
        const { status, head } = await client.send(upload);
        const used = processorTicks(application) - ticks;
        assert.equal(status, 200);
        assert.match(head, /\r\nconnection: close\r\n/i);
        assert.ok(await client.isClosed(), "large pieces stay the habit of a connection, so it ends");
        return used;
      } finally {
        client.close();
      }
    };
    await cost([]);
    const fresh = await cost([]);
    const small: RawRequest = { ...upload, lengthBytes: 1000, chunkBytes: undefined };
    const used = await cost([login, small]);
    assert.ok(used <= 3 * fresh, `${used} ticks of the processor, ${fresh} on a fresh connection`);
    const client = await RawClient.to(origin);
    const { head } = await client.send({ ...upload, lengthBytes: MIB, chunkBytes: undefined });
    assert.match(head, /\r\nconnection: close\r\n/i);
    assert.ok(await client.isClosed());
    client.close();
  } finally {
    await application.stop();
  }
});
