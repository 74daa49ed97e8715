import assert from "node:assert/strict";
import { embeddedServer } from "@/bench/wire/s3_wire.ts";
import { signHeaders } from "@/lib/s3/signer.ts";
import { type Application, startApplication } from "@/tests/application.ts";
import { mapiAuthorization } from "@/tests/embedded/store/store_fixture.ts";
import { logIn } from "./gateway_client.ts";
import { RawClient, type RawRequest } from "./raw_client.ts";

const MIB = 1024 * 1024;
/** More than any of the limits of bodies that are not objects, and than what connections take unread. */
const REFUSED_BYTES = 8 * MIB;
/** After so many looks for freed connections, one each 20 ms, a test fails. */
const MAX_LOOKS = 3000;
const options = { sanitizeOps: false, sanitizeResources: false };

function openSockets({ pid }: Application): number {
  let count = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    try {
      if (Deno.readLinkSync(`/proc/${pid}/fd/${name}`).startsWith("socket:")) count++;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return count;
}

Deno.test(
  "request bodies: refused in the middle, the client reads why and no server keeps its connection",
  options,
  async () => {
    const application = await startApplication();
    try {
      const { authorization } = await logIn(application.site, "archive/curator");
      const site = application.site.replace(/\/$/, "");
      const s3 = embeddedServer(application.dataFolder);
      const ports: Record<string, number> = JSON.parse(Deno.readTextFileSync(`${application.dataFolder}/ports.json`));
      const cluster = /^Cluster\s+(\S+)/m.exec(application.output())?.[1];
      assert.ok(cluster);
      const object = { method: "PUT", target: "/letters/refused", origin: s3.origin };
      const signed: Record<string, string> = {
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": String(REFUSED_BYTES),
        "x-amz-trailer": "x-amz-checksum-crc32",
      };
      const { host } = new URL(s3.origin);
      const request = { method: object.method, host, path: object.target, query: [] };
      signHeaders(request, signed, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", s3.keys, "us-east-1", Date.now());
      const gateway = { origin: site, headers: { Authorization: authorization } };
      const form = { "Content-Type": "multipart/form-data; boundary=b" };
      const mapi = { origin: `http://127.0.0.1:${ports["mapi archive"]}`, headers: mapiAuthorization("curator") };
      const refused: Record<string, readonly [number, Omit<RawRequest, "lengthBytes">]> = {
        "gateway, nobody": [401, { origin: site, method: "PUT", target: "/api/v1/buckets/letters/objects/a" }],
        "gateway, JSON": [413, { ...gateway, method: "POST", target: "/api/v1/presign" }],
        "gateway, form": [400, {
          ...gateway,
          headers: { ...gateway.headers, ...form },
          method: "POST",
          target: "/api/v1/buckets/letters/objects/a",
          begins: "--b\r\nno header\r\n\r\n",
        }],
        "results, login": [413, {
          origin: site,
          headers: { Origin: site, "Content-Type": "application/json" },
          method: "POST",
          target: "/results/_login",
        }],
        "site": [405, { origin: site, method: "POST", target: "/log" }],
        "site, login": [303, { origin: site, method: "POST", target: "/login" }],
        "S3, nobody": [403, object],
        "S3, aws-chunked": [400, { ...object, headers: signed, begins: "not a size\r\n" }],
        "management API": [413, { ...mapi, method: "PUT", target: "/mapi/tenants/archive/namespaces" }],
        "cluster": [413, {
          origin: cluster,
          method: "POST",
          target: "/api/v1/namespaces/default/configmaps",
        }],
      };
      const before = openSockets(application);
      for (const [name, [status, sent]] of Object.entries(refused)) {
        for (const chunkBytes of [16_384, undefined]) {
          // An announced length is enough to refuse, and aws-chunked needs one.
          const answers = await Promise.all(Array.from({ length: 8 }, async () => {
            const client = await RawClient.to(sent.origin);
            try {
              return (await client.send({ ...sent, lengthBytes: REFUSED_BYTES, chunkBytes })).status;
            } finally {
              client.close();
            }
          }));
          assert.deepEqual([...new Set(answers)], [status], `${name}, ${chunkBytes ?? "not"} chunked`);
        }
      }
      // Between the roles a few connections stay, as they do without refusals.
      const isFreed = () => openSockets(application) <= before + 8;
      for (let looks = 0; looks < MAX_LOOKS && !isFreed(); looks++) {
        await new Promise<void>((resolve) => setTimeout(resolve, 20));
      }
      assert.ok(isFreed(), `${openSockets(application)} connections are open, ${before} were before`);
    } finally {
      await application.stop();
    }
  },
);
