import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { elements, elementText, embeddedServer, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { BODY_FOLDER } from "@/embedded/store/bodies.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { accountOf, logIn } from "./gateway_client.ts";
import { mountSmallDisk, type SmallDisk } from "./small_disk.ts";

const BUCKET = "letters";
const MIB = 1024 * 1024;
const BYTES = new Uint8Array(randomBytes(6 * MIB));

/** The disk of the test that may mount one. */
const DISK_BYTES = 32 * MIB;

/** No file may become larger than this: less than the largest body by what a socket takes, enough for the index and its log. */
const FILE_LIMIT_BYTES = BYTES.length - 64 * 1024;

/** What was acknowledged: keys with the SHA-256 of their bodies. */
type Acknowledged = Map<string, string>;

Deno.test(
  "embedded store: a body that the disk cannot take is refused, and everything else goes on",
  async () => {
    const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-limit-" });
    const limited = `trap "" XFSZ; exec prlimit --fsize=${FILE_LIMIT_BYTES} "$@"`;
    const application = await startApplication({
      dataFolder,
      env: STORAGE_ONLY,
      within: ["sh", "-c", limited, "sh"],
    });
    const wire = new S3Wire(embeddedServer(dataFolder));
    try {
      const acknowledged: Acknowledged = new Map();
      assert.equal(await put(wire, "small", 100, acknowledged), "");
      assert.equal(await put(wire, "a file", MIB, acknowledged), "");
      assert.equal(await put(wire, "too large", BYTES.length, acknowledged), "OutOfSpace");
      assert.equal(await put(wire, "a file", BYTES.length, acknowledged), "OutOfSpace");
      await assertAllThere(wire, acknowledged);
      const large = bodySizes(dataFolder).filter((size) => size >= MIB / 2);
      assert.equal(large.length, 1, "what was refused leaves no file behind");
      assert.equal(await put(wire, "a file", MIB / 2, acknowledged), "");
      await assertAllThere(wire, acknowledged);
    } finally {
      wire.close();
      await application.stop();
      await Deno.remove(dataFolder, { recursive: true });
    }
  },
);

const mountPoint = await Deno.makeTempDir({ prefix: "stackroom-disk-" });
const probe = await mountSmallDisk(mountPoint, DISK_BYTES);
await probe?.remove();
await Deno.remove(mountPoint);
const isMounted = probe
  ? ""
  : " (this kernel lets nobody mount a disk here: the two other tests of a full disk stand in)";

/** Gives a test a small disk of its own, mounted at a folder. */
async function withSmallDisk(use: (disk: SmallDisk, mountPoint: string) => Promise<void>): Promise<void> {
  const mountPoint = await Deno.makeTempDir({ prefix: "stackroom-disk-" });
  const disk = await mountSmallDisk(mountPoint, DISK_BYTES);
  assert.ok(disk);
  try {
    await use(disk, mountPoint);
  } finally {
    await disk.remove();
    await Deno.remove(mountPoint, { recursive: true });
  }
}

Deno.test(`embedded store: a full disk refuses writes, loses nothing, and reads and deletions go on${isMounted}`, {
  ignore: probe === null,
}, () =>
  withSmallDisk(async (disk, mountPoint) => {
    const start = () => startApplication({ dataFolder: `${mountPoint}/data`, env: STORAGE_ONLY, within: disk.within });
    let application = await start();
    let wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
    const acknowledged: Acknowledged = new Map();
    // First large bodies until no more fits, then small ones, which go into the index, into what is left.
    const fill = async () => {
      for (const [name, size] of [["large", 3 * MIB], ["middle", 100_000], ["small", 10_000]] as const) {
        let refusal = "";
        for (let n = 0; refusal === ""; n++) refusal = await put(wire, `${name}/${n}`, size, acknowledged);
        assert.equal(refusal, "OutOfSpace", name);
        await assertAllThere(wire, acknowledged);
      }
    };
    try {
      const curator = await logIn(application.site, "archive/curator");
      const security = "/mapi/tenants/archive/consoleSecurity";
      assert.equal((await curator.call("POST", security, { disableAfterAttempts: 5 })).status, 200);
      await untilReadySays(application.site, 200, "writable");
      const upload = await startUpload(wire);
      await fill();
      assert.equal(await put(wire, "large/0", 2 * MIB, acknowledged), "OutOfSpace");
      await assertAllThere(wire, acknowledged);
      await untilReadySays(application.site, 503, "full");

      // Every way in says the same of it.
      for (const size of [2 * MIB, 12_000]) {
        const refused = await curator.call("PUT", "/buckets/letters/objects/full/new", "x".repeat(size));
        assert.deepEqual([refused.status, /disk of the store is full/.test((await refused.json()).detail)], [
          507,
          true,
        ]);
      }
      let status = 0;
      for (let n = 0; n < 100 && status !== 507; n++) {
        const user = { ...accountOf(`new-${n}`), description: "x".repeat(1000) };
        const made = await curator.call("PUT", "/mapi/tenants/archive/userAccounts?password=new-1234", user);
        status = made.status;
        await made.body?.cancel();
      }
      assert.equal(status, 507, "making users ends with the disk, too");
      const wrong = await logIn(application.site, "archive/curator", "wrong");
      for (let n = 0; n < 2; n++) assert.equal((await wrong.call("GET", "/mapi/tenants/archive")).status, 403);
      assert.equal((await curator.call("GET", "/mapi/tenants/archive")).status, 200);

      // Killed and started while it is full, it serves what it has.
      wire.close();
      await application.kill();
      application = await start();
      wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
      await assertAllThere(wire, acknowledged);
      assert.equal(await put(wire, "new", 2 * MIB, acknowledged), "OutOfSpace");

      // All can be deleted, from the smallest on, which free nothing but room in the index.
      const query = [["uploadId", upload]] as const;
      await wire.succeed({ method: "DELETE", bucket: BUCKET, key: "full/upload", query });
      const again = await logIn(application.site, "archive/curator");
      for (const [n, key] of [...acknowledged.keys()].reverse().entries()) {
        if (n % 5 === 0) assert.equal((await again.call("DELETE", `/buckets/letters/objects/${key}`)).status, 200);
        else await wire.succeed({ method: "DELETE", bucket: BUCKET, key });
        acknowledged.delete(key);
      }
      await assertAllThere(wire, acknowledged);
      assert.equal(await put(wire, "after", 2 * MIB, acknowledged), "");
      await untilReadySays(application.site, 200, "writable");

      await fill();
      await disk.resize(2 * DISK_BYTES);
      await untilReadySays(application.site, 200, "writable");
      assert.equal(await put(wire, "later", 10_000, acknowledged), "");
      assert.equal(await put(wire, "large/0", 2 * MIB, acknowledged), "");
      await assertAllThere(wire, acknowledged);
    } finally {
      wire.close();
      await application.kill();
    }
  }));

Deno.test(
  `embedded store: on a disk that others have filled a start serves what is there, and all can be deleted${isMounted}`,
  { ignore: probe === null },
  () =>
    withSmallDisk(async (disk, mountPoint) => {
      const start = () =>
        startApplication({ dataFolder: `${mountPoint}/data`, env: STORAGE_ONLY, within: disk.within });
      const on = async (command: string) => {
        const [program, ...args] = disk.within;
        await new Deno.Command(program, { args: [...args, "sh", "-c", command], stderr: "null" }).output();
      };
      let application = await start();
      let wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
      try {
        const acknowledged: Acknowledged = new Map();
        for (let n = 0; n < 40; n++) await put(wire, `k/${n}`, n % 2 === 0 ? 9000 : 60_000, acknowledged);
        await on(`cat /dev/zero > ${mountPoint}/filler`);
        await untilReadySays(application.site, 503, "full");
        for (const size of [100_000, MIB]) assert.equal(await put(wire, "k/0", size, acknowledged), "OutOfSpace");

        // Writers do not take what deletions free.
        let isOver = false;
        const writers = [10_000, 600_000].map(async (size, writer) => {
          const own = new S3Wire(embeddedServer(`${disk.outside}/data`));
          for (let n = 0; !isOver; n++) await put(own, `w/${writer}`, size, new Map());
          own.close();
        });
        for (const key of [...acknowledged.keys()].slice(0, 20)) {
          await wire.succeed({ method: "DELETE", bucket: BUCKET, key });
          acknowledged.delete(key);
        }
        isOver = true;
        await Promise.all(writers);
        for (const n of [0, 1]) await wire.succeed({ method: "DELETE", bucket: BUCKET, key: `full/w/${n}` });

        await on(`cat /dev/zero >> ${mountPoint}/filler`);
        wire.close();
        assert.equal((await application.stop()).code, 0);
        application = await start();
        wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
        await assertAllThere(wire, acknowledged);
        for (const key of acknowledged.keys()) await wire.succeed({ method: "DELETE", bucket: BUCKET, key });
        acknowledged.clear();
        await on(`rm ${mountPoint}/filler`);
        await untilReadySays(application.site, 200, "writable");
        assert.equal(await put(wire, "after", MIB, acknowledged), "");
      } finally {
        wire.close();
        await application.kill().catch(() => {});
      }
    }),
);

/** Resolves when readiness says this of the disk: it shows a look for two seconds. */
async function untilReadySays(site: string, status: number, disk: string): Promise<void> {
  await until(`the disk is ${disk}`, async () => {
    const answer = await fetch(`${site}readyz`);
    return ((await answer.json()).checks.disk === disk && answer.status === status) || null;
  });
}

async function startUpload(wire: S3Wire): Promise<string> {
  const key = "full/upload";
  const begun = await wire.succeed({ method: "POST", bucket: BUCKET, key, query: [["uploads", ""]] });
  const upload = elementText(textOf(begun), "UploadId");
  const query = [["partNumber", "1"], ["uploadId", upload]] as const;
  await wire.succeed({ method: "PUT", bucket: BUCKET, key, query, body: BYTES.subarray(0, 50_000) });
  return upload;
}

/** Writes, and gives the code of a refusal; `""` when it was taken. */
async function put(wire: S3Wire, key: string, size: number, acknowledged: Acknowledged): Promise<string> {
  const body = BYTES.subarray(0, size);
  const answer = await wire.send({ method: "PUT", bucket: BUCKET, key: `full/${key}`, body });
  if (answer.status !== 200) {
    assert.equal(answer.status, 507);
    return elementText(textOf(answer), "Code");
  }
  acknowledged.set(`full/${key}`, sha256(body));
  return "";
}

async function assertAllThere(wire: S3Wire, acknowledged: Acknowledged): Promise<void> {
  const query = [["list-type", "2"], ["prefix", "full/"]] as const;
  const listed = elements(textOf(await wire.succeed({ method: "GET", bucket: BUCKET, query })), "Contents");
  assert.deepEqual(listed.map((entry) => elementText(entry, "Key")), [...acknowledged.keys()].sort());
  for (const [key, digest] of acknowledged) {
    const { body } = await wire.succeed({ method: "GET", bucket: BUCKET, key });
    assert.equal(sha256(body), digest, key);
  }
}

function bodySizes(folder: string): number[] {
  return [...Deno.readDirSync(`${folder}/${BODY_FOLDER}`)].flatMap((hour) =>
    [...Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)].map(({ name }) =>
      Deno.statSync(`${folder}/${BODY_FOLDER}/${hour.name}/${name}`).size
    )
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
