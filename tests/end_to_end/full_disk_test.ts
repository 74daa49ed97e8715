import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { elements, elementText, embeddedServer, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { BODY_FOLDER } from "@/lib/embedded/store/bodies.ts";
import { startApplication } from "../application.ts";
import { mountSmallDisk } from "./small_disk.ts";

const BUCKET = "letters";
const MIB = 1024 * 1024;
const BYTES = new Uint8Array(randomBytes(6 * MIB));

/** The disk of the test that may mount one. */
const DISK_BYTES = 24 * MIB;

/** No file may become larger than this: less than the largest body by what a socket takes, enough for the index and its log. */
const FILE_LIMIT_BYTES = BYTES.length - 64 * 1024;

/** What was acknowledged: keys with the SHA-256 of their bodies. */
type Acknowledged = Map<string, string>;

const options = { sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "embedded store: a body that the disk cannot take is refused, and everything else goes on",
  options,
  async () => {
    const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-limit-" });
    const limited = `trap "" XFSZ; exec prlimit --fsize=${FILE_LIMIT_BYTES} "$@"`;
    const application = await startApplication({
      dataFolder,
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
      assert.equal(bodySizes(dataFolder).length, 1, "what was refused leaves no file behind");
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
const disk = await mountSmallDisk(mountPoint, DISK_BYTES);
if (!disk) await Deno.remove(mountPoint);
const isMounted = disk
  ? ""
  : " (this kernel lets nobody mount a disk here: the two other tests of a full disk stand in)";

Deno.test({
  name: `embedded store: a full disk refuses writes, loses nothing, and reads go on${isMounted}`,
  ignore: disk === null,
  ...options,
  async fn() {
    assert.ok(disk);
    const start = () => startApplication({ dataFolder: `${mountPoint}/data`, within: disk.within });
    let application = await start();
    let wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
    try {
      const acknowledged: Acknowledged = new Map();
      // First large bodies until no more fits, then small ones, which go into the index, into what is left.
      for (const [name, size] of [["large", 3 * MIB], ["middle", 100_000], ["small", 10_000]] as const) {
        let refusal = "";
        for (let n = 0; refusal === ""; n++) refusal = await put(wire, `${name}/${n}`, size, acknowledged);
        assert.equal(refusal, "OutOfSpace", name);
        await assertAllThere(wire, acknowledged);
      }
      assert.equal(await put(wire, "large/0", 2 * MIB, acknowledged), "OutOfSpace");
      await assertAllThere(wire, acknowledged);

      await disk.resize(2 * DISK_BYTES);
      assert.equal(await put(wire, "after", 10_000, acknowledged), "");
      assert.equal(await put(wire, "large/0", 2 * MIB, acknowledged), "");
      await assertAllThere(wire, acknowledged);

      wire.close();
      await application.kill();
      application = await start();
      wire = new S3Wire(embeddedServer(`${disk.outside}/data`));
      await assertAllThere(wire, acknowledged);
    } finally {
      wire.close();
      await application.kill();
      await disk.remove();
      await Deno.remove(mountPoint, { recursive: true });
    }
  },
});

/** Writes, and gives the code of a refusal; `""` when it was taken. */
async function put(wire: S3Wire, key: string, size: number, acknowledged: Acknowledged): Promise<string> {
  const body = BYTES.subarray(0, size);
  const answer = await wire.send({ method: "PUT", bucket: BUCKET, key: `full/${key}`, body });
  if (answer.status !== 200) {
    assert.equal(answer.status, 413);
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
