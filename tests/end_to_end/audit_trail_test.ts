import assert from "node:assert/strict";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { readPorts } from "@/embedded/store/ports.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { checkChainFolder } from "@/lib/audit/chain_check.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { runTask } from "@/tests/task.ts";
import { s3Keys } from "@/tests/embedded/store/store_fixture.ts";
import { logIn } from "./gateway_client.ts";

const WRITERS = 8;
/** Acknowledged writes after which the process is killed. */
const WRITES = 150;

/** A client of the store's own port. */
function storeClient(dataFolder: string): S3Client {
  return new S3Client({
    endpoint: `http://127.0.0.1:${readPorts(`${dataFolder}/ports.json`)["s3 archive"]}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: s3Keys("curator", SAMPLE_PASSWORD),
    maxAttempts: 1,
  });
}

Deno.test("audit trail: kill -9 loses no record of a change that was acknowledged", async () => {
  const dataFolder = Deno.makeTempDirSync();
  const acknowledged = new Set<string>();
  const first = await startApplication({ env: STORAGE_ONLY, dataFolder });
  const { call } = await logIn(first.site, "archive/curator");
  const direct = storeClient(dataFolder);
  const ways = [
    async (key: string) => {
      const response = await call("PUT", `/buckets/letters/objects/${encodeURIComponent(key)}`, "x");
      await response.body?.cancel();
      return response.ok;
    },
    async (key: string) => {
      await direct.send(new PutObjectCommand({ Bucket: "letters", Key: key, Body: "x" }));
      return true;
    },
  ];
  const enough = Promise.withResolvers<void>();
  let isOver = false;
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n++) {
      const key = `killed/${writer}-${n}`;
      try {
        if (await ways[writer % 2](key)) acknowledged.add(key);
        if (acknowledged.size === WRITES) enough.resolve();
      } catch {
        // The process has gone.
        return;
      }
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  await enough.promise;
  await first.kill();
  isOver = true;
  await Promise.all(writers);
  direct.destroy();
  // The end that is noted outside of the trail is never ahead of it.
  const verified = await runTask("verify", dataFolder);
  assert.equal(verified.code, 0, verified.output);

  const second = await startApplication({ env: STORAGE_ONLY, dataFolder });
  try {
    const again = await logIn(second.site, "archive/curator");
    const response = await again.call("GET", "/audit?format=ndjson&action=object_write&bucket=letters&prefix=killed/");
    assert.equal(response.status, 200);
    const records = (await response.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    const recorded = records.map(({ target }) => target.key);
    assert.deepEqual([...acknowledged].filter((key) => !recorded.includes(key)), []);
    assert.equal(new Set(recorded).size, recorded.length, "each once");
    assert.deepEqual(new Set(records.map(({ source }) => source)), new Set(["application", "store"]));
    for (const { source, target: { key } } of records) {
      assert.equal(source, Number(/\/(\d)-/.exec(key)?.[1]) % 2 === 0 ? "application" : "store", key);
    }
  } finally {
    await second.stop();
  }
  assert.deepEqual(checkChainFolder(`${dataFolder}/audit`).faults, []);
  Deno.removeSync(dataFolder, { recursive: true });
});

Deno.test("audit trail: where it is required, changes are refused while a file cannot be written, and reads are not", async () => {
  const folder = Deno.makeTempDirSync();
  const file = `${folder}/audit.jsonl`;
  const application = await startApplication({ env: { ...STORAGE_ONLY, AUDIT_REQUIRED: "true", AUDIT_FILE: file } });
  try {
    Deno.removeSync(file);
    Deno.mkdirSync(file);
    const { call } = await logIn(application.site, "archive/curator");
    const answers: [number, string][] = [];
    for (let n = 0; n < 2; n++) {
      const response = await call("PUT", "/buckets/letters/objects/a", "x");
      answers.push([response.status, (await response.json()).detail]);
    }
    assert.deepEqual(answers.map(([status]) => status), [507, 507]);
    assert.match(answers[1][1], /refused until they can/);
    const direct = storeClient(application.dataFolder);
    for (const Key of ["made", "refused"]) {
      await assert.rejects(direct.send(new PutObjectCommand({ Bucket: "letters", Key, Body: "x" })), {
        name: "OutOfSpace",
        message: /cannot be recorded in the audit trail/,
      });
    }
    direct.destroy();
    const absent = await call("HEAD", "/buckets/letters/objects/refused");
    assert.equal(absent.status, 404);
    const read = await call("GET", "/buckets/letters/objects");
    await read.body?.cancel();
    assert.equal(read.status, 200);
    assert.match(application.output(), /The audit trail cannot be written to file/);
  } finally {
    await application.stop();
    Deno.removeSync(folder, { recursive: true });
  }
});
